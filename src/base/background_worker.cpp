// See background_worker.h.
#include "base/background_worker.h"

#include <sched.h>
#include <sys/resource.h>

#include <ctime>
#include <system_error>
#include <utility>

namespace tenon {
namespace {

// Runs where nobody else wants to; nice where the system does not have that.
void take_lowest_priority() {
  const sched_param none{};
  if (sched_setscheduler(0, SCHED_IDLE, &none) == 0) return;  // 0: of this thread
  constexpr int kNicest = 19;
  static_cast<void>(setpriority(PRIO_PROCESS, 0, kNicest));
}

}  // namespace

std::chrono::nanoseconds thread_cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

BackgroundWorker::~BackgroundWorker() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void BackgroundWorker::add(BackgroundTask task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    try {
      if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {
      // No thread to be had: the next call may find one, or somebody helps.
    }
  }
  wake_.notify_all();
}

bool BackgroundWorker::help() { return do_piece().any; }

void BackgroundWorker::before_fork() {
  piece_.lock();
  mutex_.lock();
}

void BackgroundWorker::after_fork() {
  mutex_.unlock();
  piece_.unlock();
}

void BackgroundWorker::work() {
  take_lowest_priority();
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || !tasks_.empty(); });
      if (stop_) return;
    }
    rest(do_piece());
  }
}

BackgroundWorker::Done BackgroundWorker::do_piece() {
  const std::lock_guard in_hand(piece_);
  const BackgroundTask* task = nullptr;  // stays where it is: others only add
  {
    const std::lock_guard lock(mutex_);
    if (tasks_.empty()) return {};
    task = &tasks_.front();
  }
  Done done{.any = true, .share = task->share, .spent = {}};
  const auto before = time_.spent();
  const bool more = task->piece();
  done.spent = time_.spent() - before;
  BackgroundTask ended;  // ends its life without mutex_
  if (!more) {
    const std::lock_guard lock(mutex_);
    ended = std::move(tasks_.front());
    tasks_.pop_front();
  }
  return done;
}

void BackgroundWorker::rest(const Done& done) {
  const auto time =
      std::chrono::duration_cast<std::chrono::nanoseconds>(done.spent * (1 / done.share - 1));
  if (time.count() <= 0) return;
  if (time_.rested) return time_.rested(time);
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, time, [&] { return stop_; });
}

}  // namespace tenon
