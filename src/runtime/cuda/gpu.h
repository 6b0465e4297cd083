// One GPU: its properties, its primary context, memory that outlives streams, and the modules that
// are loaded on it. Shared by everything that runs there.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "program/program.h"
#include "runtime/cuda/driver.h"
#include "runtime/memory.h"

namespace tenon::runtime::cuda {

class Module;

class Gpu : public Memory, public std::enable_shared_from_this<Gpu> {
 public:
  static Result<std::shared_ptr<Gpu>> open(const Driver& driver, int index);
  ~Gpu() override;

  const Driver& driver() const { return driver_; }
  int arch() const { return arch_; }  // 90: compute capability 9.0
  int multiprocessors() const { return multiprocessors_; }
  int64_t most_shared_bytes() const { return most_shared_bytes_; }  // of a block
  bool has_memory_pools() const { return has_memory_pools_; }
  std::string describe() const;  // for people

  Result<Allocation> allocate(int64_t bytes, const char* purpose) override;
  void release(const Allocation& allocation) noexcept override;

  // Each code is loaded once, and unloaded when nobody uses it.
  Result<std::shared_ptr<const Module>> module(const program::Code& code);

 private:
  friend class Current;
  explicit Gpu(const Driver& driver) : driver_(driver) {}
  Status read_properties(int index);

  const Driver& driver_;
  int device_ = 0, arch_ = 0, multiprocessors_ = 0;
  int64_t most_shared_bytes_ = 0, memory_bytes_ = 0;
  bool has_memory_pools_ = false;
  std::string name_;
  void* context_ = nullptr;
  std::mutex mutex_;
  std::map<Digest, std::weak_ptr<const Module>> modules_;
};

// While it lives, the calling thread's calls are for this GPU; then for what they were for before.
class Current {
 public:
  explicit Current(const Gpu& gpu) : driver_(gpu.driver_) { driver_.context_push(gpu.context_); }
  ~Current() {
    void* popped = nullptr;
    driver_.context_pop(&popped);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  const Driver& driver_;
};

// What cuMemAlloc and its like gave, or the error that says how much was wanted for what.
Result<Allocation> allocated(const Driver& driver, int result, uint64_t pointer, int64_t bytes,
                             const char* purpose);

inline uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

}  // namespace tenon::runtime::cuda
