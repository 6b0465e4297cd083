// Pinned host memory through which inputs and outputs pass: copies from and to it run beside the
// host's own work. Handed out piece by piece until everything is taken back at once; after the
// first run of a shape nothing is allocated.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "runtime/cuda/gpu.h"

namespace tenon::runtime::cuda {

class Staging {
 public:
  explicit Staging(std::shared_ptr<const Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~Staging() { free_all(); }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  Result<std::byte*> take(int64_t bytes);
  int64_t taken() const { return taken_; }
  void take_back();  // no copy uses any of it any more

 private:
  struct Chunk {
    std::byte* data;
    int64_t size, used;
  };

  Status add_chunk(int64_t bytes);
  void free_all() noexcept;

  std::shared_ptr<const Gpu> gpu_;
  std::vector<Chunk> chunks_;
  int64_t taken_ = 0, most_taken_ = 0;
};

}  // namespace tenon::runtime::cuda
