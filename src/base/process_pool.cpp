// The one pool of the process: made when first asked for, replaced by the host's where it has one,
// and forgotten in a forked child, whose copy of it has no threads.
#include <pthread.h>

#include <atomic>

#include "base/thread_pool.h"

namespace tenon {
namespace {

std::atomic<ThreadPool*> g_host{nullptr};
std::atomic<ThreadPool*> g_own{nullptr};

// The parent's pool is left as it is: its memory is shared with the parent's image, its threads are
// not here.
void forget_in_child() { g_own.store(nullptr); }

ThreadPool& make_own() {
  static const int kRegistered = pthread_atfork(nullptr, nullptr, forget_in_child);
  (void)kRegistered;
  auto made = make_worker_pool();
  ThreadPool* expected = nullptr;
  if (g_own.compare_exchange_strong(expected, made.get())) return *made.release();
  return *expected;  // another thread was faster; ours has no threads yet and goes
}

}  // namespace

ThreadPool& thread_pool() {
  if (ThreadPool* host = g_host.load(std::memory_order_acquire)) return *host;
  if (ThreadPool* own = g_own.load(std::memory_order_acquire)) return *own;
  return make_own();
}

void set_thread_pool(ThreadPool* host) { g_host.store(host, std::memory_order_release); }

void shut_down_thread_pool() { delete g_own.exchange(nullptr); }

}  // namespace tenon
