// One job at a time. The caller opens the job, rings the workers it wants, works itself, closes the
// job and waits for those who entered. A worker that wakes too late finds the job closed and goes
// back to sleep, so nobody waits for a sleeper. Chunks are handed out by one atomic counter, large
// ones first.
#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>
#include <vector>

#include "base/cpu_info.h"
#include "base/cpu_seats.h"
#include "base/knobs.h"

namespace tenon {
namespace {

constexpr int kMaxThreads = CpuSeats::kMost;
constexpr int kSpinMicroseconds = 50;
// A chunk is this part of a thread's share of what is left: the last ones are single items, which
// even out what went before.
constexpr int64_t kChunksPerShare = 2;

thread_local bool t_inside_body = false;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Blocks until the atomic no longer holds `old`: spins for a moment, then sleeps.
void wait_while(const std::atomic<uint32_t>& atomic, uint32_t old, int spin_microseconds) {
  if (spin_microseconds > 0) {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::microseconds(spin_microseconds);
    do {
      for (int i = 0; i < 64; ++i) {
        if (atomic.load(std::memory_order_acquire) != old) return;
        relax();
      }
    } while (std::chrono::steady_clock::now() < end);
  }
  atomic.wait(old, std::memory_order_acquire);
}

class WorkerPool final : public ThreadPool {
 public:
  explicit WorkerPool(WorkerPoolOptions options);
  ~WorkerPool() override;

  int max_threads() const override { return max_threads_; }
  void parallel_for(int64_t count, int threads, ParallelBody body) override;

 private:
  struct alignas(64) Worker {
    std::atomic<uint32_t> bell{0};
    std::thread thread;
  };
  struct Job {
    const ParallelBody* body;
    int64_t count;
    int threads;
  };
  static constexpr uint32_t kClosed = uint32_t{1} << 31;

  void run_job(int64_t count, int threads, const ParallelBody& body);
  int grow_to(int workers);  // how many there are
  void work(Worker& self, int index);
  bool enter();
  void leave();
  void run_chunks(int worker);

  int max_threads_;
  int spin_microseconds_;
  std::vector<std::unique_ptr<Worker>> workers_;  // only touched by who holds busy_
  Job job_{};  // constant while the job is open or someone is inside
  CpuSeats seats_;
  std::atomic<bool> stop_{false};
  alignas(64) std::atomic<bool> busy_{false};
  alignas(64) std::atomic<int64_t> next_{0};
  alignas(64) std::atomic<uint32_t> inside_{
      kClosed};  // workers inside the job, and whether it is closed
};

WorkerPool::WorkerPool(WorkerPoolOptions options)
    : max_threads_(options.max_threads), spin_microseconds_(options.spin_microseconds) {
  if (max_threads_ <= 0) max_threads_ = knobs().threads;
  if (max_threads_ <= 0) max_threads_ = usable_threads();
  max_threads_ = std::min(max_threads_, kMaxThreads);
  if (spin_microseconds_ < 0) {
    spin_microseconds_ = usable_threads() < max_threads_ ? 0 : kSpinMicroseconds;
  }
}

WorkerPool::~WorkerPool() {
  stop_.store(true);
  for (auto& worker : workers_) {
    worker->bell.fetch_add(1, std::memory_order_release);
    worker->bell.notify_one();
  }
  for (auto& worker : workers_) worker->thread.join();
}

void WorkerPool::parallel_for(int64_t count, int threads, ParallelBody body) {
  if (count <= 0) return;
  if (threads <= 0) threads = max_threads_;
  threads = static_cast<int>(std::min<int64_t>({threads, kMaxThreads, count}));
  const bool alone = threads == 1 || t_inside_body || busy_.exchange(true);
  if (alone) {
    body(0, count, 0);
    return;
  }
  run_job(count, threads, body);
  busy_.store(false);
}

void WorkerPool::run_job(int64_t count, int threads, const ParallelBody& body) {
  const int helpers = std::min(grow_to(threads - 1), threads - 1);
  job_ = {&body, count, threads};
  seats_.sit(0);
  next_.store(0, std::memory_order_relaxed);
  inside_.store(0, std::memory_order_release);
  for (int i = 0; i < helpers; ++i) {
    Worker& worker = *workers_[static_cast<size_t>(i)];
    worker.bell.fetch_add(1, std::memory_order_release);
    worker.bell.notify_one();
  }
  run_chunks(0);
  uint32_t left = inside_.fetch_or(kClosed, std::memory_order_acq_rel) | kClosed;
  // Who is inside is working, so this wait is short; it spins only where the workers may.
  while (left != kClosed) {
    wait_while(inside_, left, spin_microseconds_);
    left = inside_.load(std::memory_order_acquire);
  }
}

int WorkerPool::grow_to(int workers) {
  try {
    workers_.reserve(static_cast<size_t>(workers));
    while (static_cast<int>(workers_.size()) < workers) {
      auto worker = std::make_unique<Worker>();
      const int index = static_cast<int>(workers_.size()) + 1;
      worker->thread = std::thread([this, &self = *worker, index] { work(self, index); });
      workers_.push_back(std::move(worker));
    }
  } catch (const std::exception&) {
    // No more threads or memory to be had: fewer will do.
  }
  return static_cast<int>(workers_.size());
}

void WorkerPool::work(Worker& self, int index) {
  t_inside_body = true;  // whatever a body starts runs inline
  uint32_t heard = 0;
  for (;;) {
    wait_while(self.bell, heard, heard == 0 ? 0 : spin_microseconds_);
    heard = self.bell.load(std::memory_order_acquire);
    if (stop_.load()) return;
    seats_.sit_apart(index);  // too late for this job, perhaps, but not for the next
    if (!enter()) continue;
    // A latecomer may have entered a newer job, one that has no place for it.
    if (index < job_.threads) run_chunks(index);
    leave();
  }
}

bool WorkerPool::enter() {
  uint32_t inside = inside_.load(std::memory_order_relaxed);
  do {
    if (inside & kClosed) return false;
  } while (!inside_.compare_exchange_weak(inside, inside + 1, std::memory_order_acquire,
                                          std::memory_order_relaxed));
  return true;
}

void WorkerPool::leave() {
  if (inside_.fetch_sub(1, std::memory_order_acq_rel) == (kClosed | 1)) inside_.notify_one();
}

void WorkerPool::run_chunks(int worker) {
  const bool was_inside = std::exchange(t_inside_body, true);
  const Job job = job_;
  int64_t begin = next_.load(std::memory_order_relaxed);
  while (begin < job.count) {
    const int64_t chunk =
        std::max<int64_t>((job.count - begin) / (job.threads * kChunksPerShare), 1);
    if (!next_.compare_exchange_weak(begin, begin + chunk, std::memory_order_relaxed)) continue;
    (*job.body)(begin, begin + chunk, worker);
    begin = next_.load(std::memory_order_relaxed);
  }
  t_inside_body = was_inside;
}

}  // namespace

std::unique_ptr<ThreadPool> make_worker_pool(WorkerPoolOptions options) {
  return std::make_unique<WorkerPool>(options);
}

}  // namespace tenon
