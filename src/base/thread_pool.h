// The process's thread pool. Kernels split their work with parallel_for, which allocates nothing
// and whose latency is that of a few atomics: workers spin for a moment after a run and sleep
// otherwise. No thread exists before the first parallel run, after a fork the child starts its own,
// and a host with a pool of its own may put it in our place.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>

#include "base/function_ref.h"

namespace tenon {

// Runs items begin .. end - 1. `worker` is below the thread count of the call, and no two chunks of
// one call that run at the same time have the same, so it may index per-thread scratch. Must not
// throw. Parameter types are matched exactly: three integers in another order would convert
// silently and mean something else.
class ParallelBody : public FunctionRef<void(int64_t begin, int64_t end, int worker)> {
  using Base = FunctionRef<void(int64_t begin, int64_t end, int worker)>;

  template <typename T>
  struct Exactly {
    template <std::same_as<T> U>
    operator U() const;  // NOLINT(google-explicit-constructor)
  };

 public:
  template <typename F>
    requires std::is_invocable_v<F&, Exactly<int64_t>, Exactly<int64_t>, Exactly<int>>
  ParallelBody(F&& function) : Base(function) {}  // NOLINT(google-explicit-constructor)
};

class ThreadPool {
 public:
  virtual ~ThreadPool() = default;
  virtual int max_threads() const = 0;
  // Runs the body over 0 .. count - 1 on at most `threads` threads, the caller among them, and
  // returns when all is done. 0 threads means max_threads(). May be called from many threads and
  // from inside a body; then it may run everything on the calling thread, as worker 0.
  virtual void parallel_for(int64_t count, int threads, ParallelBody body) = 0;
};

struct WorkerPoolOptions {
  int max_threads = 0;         // what 0 threads means; 0 here: TENON_THREADS, or usable_threads()
  int spin_microseconds = -1;  // -1: 50, or none where the quota is below the thread count
};
std::unique_ptr<ThreadPool> make_worker_pool(WorkerPoolOptions options = {});

ThreadPool& thread_pool();               // the host's, or our own, made when first asked for
void set_thread_pool(ThreadPool* host);  // null: our own again. The host's must outlive its use
void shut_down_thread_pool();  // joins our workers, e.g. before unloading; none may be running

inline void parallel_for(int64_t count, int threads, ParallelBody body) {
  thread_pool().parallel_for(count, threads, body);
}

}  // namespace tenon
