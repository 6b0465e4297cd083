#include "runtime/run_owned.h"

#include <new>

namespace tenon::runtime {
namespace {

// `resize`: reserve or resize, of the bytes.
using Resize = void (std::vector<std::byte>::*)(size_t bytes);
constexpr Resize kResize = &std::vector<std::byte>::resize;

Status allocate(const Executor& executor, int index, Resize resize, OwnedOutput& output) {
  const program::IoSlot& slot = executor.program().outputs[static_cast<size_t>(index)];
  const auto extents = executor.output_extents(index);
  const Result<int64_t> bytes = dense_bytes(slot.type.dtype, extents);
  if (!bytes) return bytes.error();
  try {
    if (bytes.value() > kMostBytes) throw std::bad_alloc();
    output.shape.assign(extents.begin(), extents.end());
    (output.bytes.*resize)(static_cast<size_t>(bytes.value()));
  } catch (const std::bad_alloc&) {
    return user_error("out of memory: {} bytes for output \"{}\"", bytes.value(), slot.name);
  }
  return {};
}

}  // namespace

// What is copied from a device is appended as it arrives: zeros before would cost as much again.
Status OwnedRun::begin(Executor& executor, const RunOptions& options) {
  const auto& slots = executor.program().outputs;
  const bool copied = executor.works_ahead() && !executor.handles().change();
  const Resize resize = copied ? Resize(&std::vector<std::byte>::reserve) : kResize;
  outputs_.resize(slots.size());
  views_.resize(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].late >= 0) continue;
    OwnedOutput& output = outputs_[i];
    if (Status status = allocate(executor, static_cast<int>(i), resize, output); !status.ok())
      return status;
    views_[i] = {output.bytes.data(), slots[i].type.dtype, output.shape, {}};
    if (copied) views_[i].appended_to = &output.bytes;
  }
  if (Status status = executor.commit(views_, options); !status.ok()) return status;
  Status status = take_late(executor);
  if (!status.ok()) executor.take_back();
  return status;
}

Status OwnedRun::take_late(Executor& executor) {
  const auto& slots = executor.program().outputs;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].late < 0) continue;
    const auto index = static_cast<int>(i);
    if (Status status = allocate(executor, index, kResize, outputs_[i]); !status.ok())
      return status;
    if (outputs_[i].bytes.empty()) continue;
    if (Status status = executor.read_late_output(index, outputs_[i].bytes); !status.ok())
      return status;
  }
  return {};
}

Result<std::vector<OwnedOutput>> run_owned(Executor& executor, std::span<const IoView> inputs,
                                           const RunOptions& options) {
  if (Status status = executor.bind(inputs); !status.ok()) return status.error();
  OwnedRun run;
  if (Status status = run.begin(executor, options); !status.ok()) return status.error();
  if (Status status = executor.wait(); !status.ok()) return status.error();
  return run.take();
}

}  // namespace tenon::runtime
