// The machine's limit for what reads memory once, as a contender of bench/peers: every thread reads
// its part of so many bytes, one linear stream, in huge pages where the system has them.
//
//   set bytes N
#include <sys/mman.h>

#include <barrier>
#include <cstring>
#include <thread>

#include "worker.h"

namespace {

using contest::Job;

using Vector [[gnu::vector_size(64)]] = float;  // of what instructions the target has
constexpr size_t kSums = 8, kPart = kSums * sizeof(Vector), kPage = size_t{2} << 20;

[[gnu::target_clones("avx512f", "avx2", "default")]] float sum(const Vector* from, size_t count) {
  Vector sums[kSums] = {};
  for (size_t i = 0; i + kSums <= count; i += kSums) {
    for (size_t s = 0; s < kSums; ++s) sums[s] += from[i + s];
  }
  for (size_t s = 1; s < kSums; ++s) sums[0] += sums[s];
  return sums[0][0] + sums[0][15];
}

class ReadProbe : public contest::Contender {
 public:
  explicit ReadProbe(const Job& job)
      : threads_(job.threads),
        bytes_(std::stoull(job.setting("bytes")) / kPart / job.threads * kPart * job.threads),
        barrier_(job.threads) {
    memory_ = static_cast<char*>(std::aligned_alloc(kPage, (bytes_ / kPage + 1) * kPage));
    madvise(memory_, bytes_, MADV_HUGEPAGE);
    std::memset(memory_, 0, bytes_);
    for (int part = 1; part < threads_; ++part) {
      others_.emplace_back([this, part](const std::stop_token& stop) {
        for (;;) {
          barrier_.arrive_and_wait();
          if (stop.stop_requested()) return;
          read(part);
          barrier_.arrive_and_wait();
        }
      });
    }
  }
  ~ReadProbe() override {
    for (auto& thread : others_) thread.request_stop();
    barrier_.arrive_and_wait();
  }

  std::string version() const override { return "1"; }
  void run() override {
    barrier_.arrive_and_wait();
    read(0);
    barrier_.arrive_and_wait();
  }

 private:
  void read(int part) {
    const size_t bytes = bytes_ / threads_;
    const float result =
        sum(reinterpret_cast<const Vector*>(memory_ + part * bytes), bytes / sizeof(Vector));
    asm volatile("" : : "x"(result));
  }

  int threads_;
  size_t bytes_;
  char* memory_;
  std::barrier<> barrier_;
  std::vector<std::jthread> others_;
};

std::unique_ptr<contest::Contender> load(const Job& job) {
  return std::make_unique<ReadProbe>(job);
}

}  // namespace

int main() { return contest::serve(load); }
