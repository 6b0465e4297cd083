// The one background worker of the process: made when there is first something to do, replaced in a
// forked child, which has no thread of it, and ended before what its tasks use is.
#include <pthread.h>

#include <cstdlib>
#include <memory>

#include "base/background_worker.h"

namespace tenon {
namespace {

// Lives as long as the process: threads may come here while it ends.
struct Process {
  std::mutex mutex;
  std::shared_ptr<BackgroundWorker> worker;  // and of who helps
  bool ending = false;
};
Process& process() {
  static Process& process = *new Process;
  return process;
}

void before_fork() {
  process().mutex.lock();
  if (process().worker) process().worker->before_fork();
}

void after_fork() {
  if (process().worker) process().worker->after_fork();
  process().mutex.unlock();
}

void after_fork_in_child() {
  if (process().worker) {
    // The one that was there stays in memory: its thread and who waits for it are the parent's.
    const auto& of_parent = *new std::shared_ptr(std::move(process().worker));
    process().worker =
        std::make_shared<BackgroundWorker>(BackgroundTime(), of_parent->take_tasks());
  }
  process().mutex.unlock();
}

void end_with_process() {
  {
    const std::lock_guard lock(process().mutex);
    process().ending = true;
  }
  shut_down_background();
}

// Whatever the tasks use was there before the first of them, and goes after this.
void register_once() {
  static const int kRegistered =
      pthread_atfork(before_fork, after_fork, after_fork_in_child) + std::atexit(end_with_process);
  static_cast<void>(kRegistered);
}

}  // namespace

void run_in_background(BackgroundTask task) {
  register_once();
  const std::lock_guard lock(process().mutex);
  if (process().ending) return;
  if (!process().worker) process().worker = std::make_shared<BackgroundWorker>();
  process().worker->add(std::move(task));
}

bool help_background() {
  std::shared_ptr<BackgroundWorker> worker;
  {
    const std::lock_guard lock(process().mutex);
    worker = process().worker;
  }
  return worker && worker->help();
}

void shut_down_background() {
  std::shared_ptr<BackgroundWorker> worker;
  const std::lock_guard lock(process().mutex);
  worker = std::move(process().worker);
}

}  // namespace tenon
