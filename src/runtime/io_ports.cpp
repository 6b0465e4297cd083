// See io_ports.h.
#include "runtime/io_ports.h"

#include <algorithm>

namespace tenon::runtime {

IoPorts::IoPorts(const program::Program& program, DeviceStream& stream)
    : program_(&program), stream_(&stream) {
  inputs_.resize(program.inputs.size());
  outputs_.resize(program.outputs.size());
  for (auto* ports : {&inputs_, &outputs_}) {
    for (Port& port : *ports) port.block = MemoryBlock(stream);
  }
}

// On the device already, or to be copied.
Status IoPorts::bind(Port& port, const IoView& view) {
  port.host = {};
  port.spread = false;
  port.device = view.data;
  if (view.on_device || stream_->shares_host_memory()) return {};
  const Result<int64_t> bytes = memory_bytes(view);
  if (!bytes) return bytes.error();
  port.host = view;
  port.bytes = bytes.value();
  return {};
}

Status IoPorts::bind_inputs(std::span<const IoView> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (Status status = bind(inputs_[i], inputs[i]); !status.ok()) return status;
  }
  return {};
}

Status IoPorts::copy_in() {
  for (Port& port : inputs_) {
    if (!port.host.data) continue;
    if (Status status = port.block.reserve(port.bytes, "an input"); !status.ok()) return status;
    port.device = port.block.data();
    if (Status status = stream_->copy_in(port.device, port.host.data, port.bytes); !status.ok())
      return status;
  }
  return {};
}

Status IoPorts::bind_outputs(std::span<const IoView> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    Port& port = outputs_[i];
    if (program_->outputs[i].late >= 0) continue;
    if (Status status = bind(port, outputs[i]); !status.ok()) return status;
    if (!port.host.data) continue;
    if (Status status = port.block.reserve(port.bytes, "an output"); !status.ok()) return status;
    port.device = port.block.data();
  }
  return {};
}

Status IoPorts::copy_out() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    Port& port = outputs_[i];
    if (program_->outputs[i].late >= 0 || !port.host.data) continue;
    void* to = port.host.data;
    if (has_gaps(port.host)) {
      const Result<void*> held = hold(port, port.host, port.bytes, false);
      if (!held) return held.error();
      to = held.value();
    }
    const Status status = port.host.appended_to
                              ? stream_->append_out(*port.host.appended_to, port.device, port.bytes)
                              : stream_->copy_out(to, port.device, port.bytes);
    if (!status.ok()) return status;
  }
  return {};
}

Status IoPorts::copy_late(int index, const void* from, const IoView& view) {
  const Result<int64_t> bytes = dense_bytes(view.dtype, view.shape);
  if (!bytes) return bytes.error();
  if (view.on_device) return stream_->copy_within(view.data, from, bytes.value());
  if (stream_->shares_host_memory()) {
    copy_dense(from, view);
    return {};
  }
  if (!has_gaps(view)) return stream_->copy_out(view.data, from, bytes.value());
  const Result<void*> held = hold(outputs_[static_cast<size_t>(index)], view, bytes.value(), true);
  if (!held) return held.error();
  return stream_->copy_out(held.value(), from, bytes.value());
}

// Memory of the host's for an output on its way to the view, until finish.
Result<void*> IoPorts::hold(Port& port, const IoView& view, int64_t bytes, bool dense) {
  if (Status status = port.with_gaps.reserve(bytes, "an output"); !status.ok())
    return status.error();
  port.shape.assign(view.shape.begin(), view.shape.end());
  port.capacity.assign(view.capacity.begin(), view.capacity.end());
  port.host = view;
  port.host.shape = port.shape;
  port.host.capacity = port.capacity;
  port.spread = true;
  port.dense = dense;
  return static_cast<void*>(port.with_gaps.data());
}

bool IoPorts::holds_outputs() const { return std::ranges::any_of(outputs_, &Port::spread); }

void IoPorts::finish() {
  for (Port& port : outputs_) {
    if (!port.spread) continue;
    (port.dense ? copy_dense : copy_between_gaps)(port.with_gaps.data(), port.host);
  }
  forget();
}

void IoPorts::forget() {
  for (Port& port : outputs_) port.spread = false;
}

}  // namespace tenon::runtime
