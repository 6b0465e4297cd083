// See shared_layout.h.
#include "codegen/cuda/shared_layout.h"

namespace tenon::codegen::cuda {
namespace {

constexpr int64_t kAlignment = 128;

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

SharedLayout::SharedLayout(const kernel::Kernel& kernel) {
  for (const kernel::Buffer& buffer : kernel.buffers) {
    const bool is_shared = buffer.storage == kernel::Storage::Shared;
    const int64_t slot =
        is_shared ? aligned(buffer.elements.const_value() * size_of(buffer.dtype)) : 0;
    offsets.push_back(is_shared ? bytes : 0);
    slot_elements.push_back(slot / size_of(buffer.dtype));
    bytes += slot * buffer.depth;
  }
  kernel::for_each(kernel.body, [&](const kernel::Stmt& stmt) {
    const auto* combine = stmt.as<kernel::Combine>();
    if (!combine || combine->group <= kWarp) return;
    exchanges[combine] = bytes;
    const DType dtype = kernel.buffers[static_cast<size_t>(combine->buffer)].dtype;
    bytes += aligned(combine->group * size_of(dtype));
  });
}

}  // namespace tenon::codegen::cuda
