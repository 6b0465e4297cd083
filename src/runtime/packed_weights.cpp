#include "runtime/packed_weights.h"

namespace tenon::runtime {
namespace {

constexpr int64_t kAlignment = 256;  // what kernels of any device may count on

}  // namespace

Result<std::shared_ptr<PackedWeights>> PackedWeights::make(const program::Program& program,
                                                           std::shared_ptr<Memory> memory) {
  std::shared_ptr<PackedWeights> weights(new PackedWeights(std::move(memory)));
  int64_t bytes = 0;
  for (const program::PackedSlot& slot : program.packed) {
    weights->offsets_.push_back(bytes);
    bytes += (slot.bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  if (Status status = weights->block_.reserve(bytes, "packed weights"); !status.ok())
    return status.error();
  return weights;
}

Status PackedWeights::make_once(const std::function<Status()>& fill) {
  const std::lock_guard lock(filling_);
  if (filled_) return {};
  Status status = fill();
  filled_ = status.ok();
  return status;
}

void PackedWeights::outdate() {
  const std::lock_guard lock(filling_);
  filled_ = false;
}

}  // namespace tenon::runtime
