#include "bench/subject.h"

#include <algorithm>

#include "base/cpu_info.h"
#include "driver/pipeline.h"

namespace tenon::bench {
namespace {

int64_t elements(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

runtime::MemoryBlock block(int64_t bytes) {
  runtime::MemoryBlock result;
  result.reserve(bytes, "a benchmark").throw_if_error();
  return result;
}

void fill_random(float* data, int64_t count) {
  uint32_t state = 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    data[i] = (static_cast<float>(state >> 8) * 0x1p-24F - 0.5F) * 0.2F;
  }
}

void fill(DType dtype, std::byte* data, int64_t count) {
  if (dtype == DType::F32) return fill_random(reinterpret_cast<float*>(data), count);
  for (int64_t i = 0; i < count; ++i) store_from_i64(dtype, data + i * size_of(dtype), 1);
}

}  // namespace

Subject::Subject(const graph::Graph& graph) {
  driver::Options options;
  options.cpu = cpu_info();
  auto program = std::make_shared<program::Program>(driver::compile(graph, options).program);
  executor_ = runtime::Executor::load(program, thread_pool()).take();
  executor_->set_threads(1);
  for (const graph::Value& input : graph.inputs()) dtypes_.push_back(input.dtype());
  for (const program::ParamSlot& slot : program->params) {
    std::vector<int64_t> shape;
    for (const Dim& dim : slot.type.shape) shape.push_back(dim.const_value());
    const graph::Data* initial = graph.param_data(slot.name);
    std::vector<float> made(initial ? 0 : static_cast<size_t>(elements(shape)));
    fill_random(made.data(), static_cast<int64_t>(made.size()));
    const void* data = initial ? static_cast<const void*>(initial->bytes.data()) : made.data();
    executor_->set_param(slot.name, slot.type.dtype, shape, data).throw_if_error();
  }
}

void Subject::bind(const std::vector<std::vector<int64_t>>& shapes) {
  shapes_ = shapes;
  inputs_.clear();
  memory_.clear();
  for (const auto& shape : shapes_) {
    const DType dtype = dtypes_[inputs_.size()];
    const auto skew = static_cast<int64_t>(memory_.size()) * kSkewBytes;
    memory_.push_back(block(elements(shape) * size_of(dtype) + skew));
    std::byte* data = memory_.back().data() + skew;
    fill(dtype, data, elements(shape));
    inputs_.push_back({data, dtype, shape, {}});
  }
  executor_->bind(inputs_).throw_if_error();
  extents_.assign(executor_->output_extents(0).begin(), executor_->output_extents(0).end());
  output_skew_ = static_cast<int64_t>(memory_.size()) * kSkewBytes;
  output_ = block(elements(extents_) * size_of(DType::F32) + output_skew_);
  run();
}

void Subject::run() {
  executor_->bind(inputs_).throw_if_error();
  const runtime::IoView out{output_.data() + output_skew_, DType::F32, extents_, {}};
  executor_->execute({&out, 1}).throw_if_error();
}

}  // namespace tenon::bench
