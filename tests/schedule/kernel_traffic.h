// How many bytes a scheduled kernel moves at given extents, counted statement by statement: every
// access of every iteration whose guards hold, by the storage class of what it touches.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "kernel/kernel.h"

namespace tenon::kernel_test {

class KernelTraffic {
 public:
  KernelTraffic(const kernel::Kernel& kernel, std::map<std::string, int64_t> extents)
      : kernel_(kernel), values_(std::move(extents)) {
    block(kernel.body);
  }

  int64_t loaded(kernel::Storage storage) const { return bytes(loaded_, storage); }
  int64_t stored(kernel::Storage storage) const { return bytes(stored_, storage); }
  int64_t scratch_bytes() const { return value_of(kernel_.scratch_bytes()); }

 private:
  using Bytes = std::map<kernel::Storage, int64_t>;
  static int64_t bytes(const Bytes& counted, kernel::Storage storage) {
    const auto it = counted.find(storage);
    return it == counted.end() ? 0 : it->second;
  }
  int64_t value_of(const Dim& dim) const {
    return dim
        .evaluate([&](const Symbol& s) -> std::optional<int64_t> { return values_.at(s.name()); })
        .value();
  }

  void access(Bytes& counted, int buffer, const std::vector<kernel::Guard>& guards) {
    const bool holds = std::ranges::all_of(guards, [&](const kernel::Guard& guard) {
      const int64_t index = value_of(guard.index);
      return index >= 0 && index < value_of(guard.bound);
    });
    const kernel::Buffer& target = kernel_.buffers[static_cast<size_t>(buffer)];
    if (holds) counted[target.storage] += size_of(target.dtype);
  }
  void loads(const kernel::ExprRef& value) {
    kernel::for_each(value, [&](const kernel::Expr& e) {
      if (e.op == kernel::Op::Load) access(loaded_, e.buffer, e.guards);
    });
  }

  void block(const kernel::Block& block) {
    for (const kernel::Stmt& stmt : block) {
      if (const auto* loop = stmt.as<kernel::Loop>()) {
        each_iteration(*loop);
      } else if (const auto* store = stmt.as<kernel::Store>()) {
        loads(store->value);
        access(stored_, store->buffer, store->guards);
      } else if (const auto* specialize = stmt.as<kernel::Specialize>()) {
        this->block(*specialize->body);
      } else if (const auto* mma = stmt.as<kernel::Mma>()) {
        each(mma->row, value_of(mma->rows), [&] { loads(mma->a); });
        each(mma->col, mma->cols, [&] { loads(mma->b); });
      }
    }
  }
  void each(const Symbol& symbol, int64_t extent, const std::function<void()>& visit) {
    for (int64_t i = 0; i < extent; ++i) {
      values_[symbol.name()] = i;
      visit();
    }
  }
  void each_iteration(const kernel::Loop& loop) {
    const int64_t extent = value_of(loop.extent);
    if (loop.kind != kernel::LoopKind::Ladder)
      return each(loop.symbol, extent, [&] { block(*loop.body); });
    for (int64_t i = 0, step = 0; i < extent; i += step) {
      step = *std::ranges::find_if(loop.steps, [&](int64_t s) { return s <= extent - i; });
      values_[loop.symbol.name()] = i;
      values_[loop.rows[0].name()] = step;
      block(*loop.body);
    }
  }

  const kernel::Kernel& kernel_;
  std::map<std::string, int64_t> values_;
  Bytes loaded_, stored_;
};

}  // namespace tenon::kernel_test
