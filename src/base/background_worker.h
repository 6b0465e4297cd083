// Work that nobody waits for: one thread of the process does it piece by piece, at the lowest
// priority, and rests between pieces so that it takes no more than a share of a core. It exists
// when there is first something to do. Who does wait helps. A fork waits for the piece in hand, and
// the child has what is left to do, for a thread of its own. The process ends after the piece in
// hand.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace tenon {

struct BackgroundTask {
  std::function<bool()> piece;  // does one; whether there are more. Does not throw
  double share = 1;             // of a core, over time: above 0, at most 1
};

std::chrono::nanoseconds thread_cpu_time();  // of the calling thread

// What tests replace.
struct BackgroundTime {
  std::function<std::chrono::nanoseconds()> spent = thread_cpu_time;
  std::function<void(std::chrono::nanoseconds)> rested = nullptr;  // instead of resting
};

class BackgroundWorker {
 public:
  explicit BackgroundWorker(BackgroundTime time = {}, std::deque<BackgroundTask> tasks = {})
      : time_(std::move(time)), tasks_(std::move(tasks)) {}
  ~BackgroundWorker();  // when the piece in hand is done; what is left is dropped
  BackgroundWorker(const BackgroundWorker&) = delete;
  BackgroundWorker& operator=(const BackgroundWorker&) = delete;

  void add(BackgroundTask task);  // done in the order in which they come
  // One piece, on the calling thread, after the one in hand; false where there is nothing to do.
  bool help();

  // Around a fork: no piece is in hand and nothing is locked by others.
  void before_fork();
  void after_fork();
  // In the child, where its thread is not: all that is left of it.
  std::deque<BackgroundTask> take_tasks() { return std::move(tasks_); }

 private:
  struct Done {
    bool any = false;
    double share = 1;
    std::chrono::nanoseconds spent{};
  };

  void work();
  Done do_piece();
  void rest(const Done& done);

  BackgroundTime time_;
  std::mutex piece_;  // held while a piece is done; taken before mutex_
  std::mutex mutex_;  // of all below
  std::condition_variable wake_;
  std::deque<BackgroundTask> tasks_;
  bool stop_ = false;
  std::thread thread_;
};

// By the process's worker. When the process is ending, tasks are dropped.
void run_in_background(BackgroundTask task);
bool help_background();
void shut_down_background();  // joins its thread, e.g. before unloading; tasks are dropped

}  // namespace tenon
