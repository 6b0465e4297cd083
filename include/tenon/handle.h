// Handle: a tensor that stays on a device, for inputs of compiled graphs (CompiledGraph's
// bind_handle and fork_handle). Cheap to copy: copies have the same memory, and whoever changes it
// makes memory of its own before.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tenon/dtype.h"

namespace tenon {

class Handle {
 public:
  DType dtype() const;
  const std::vector<int64_t>& shape() const;

 private:
  friend class CompiledGraph;
  struct Impl;
  explicit Handle(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  const Impl& impl() const;  // an Error where it was moved from
  std::shared_ptr<const Impl> impl_;
};

}  // namespace tenon
