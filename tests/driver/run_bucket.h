// A graph compiled for a bucket, with an active extent, on any device: what a CompiledGraph does
// with its inputs and outputs, for devices that have no public name.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "base/cpu_info.h"
#include "base/error.h"
#include "compiled/active_rows.h"
#include "compiled/output_block.h"
#include "driver/pipeline.h"
#include "emulate/emulated_gpu.h"
#include "graph/active_extent.h"
#include "graph/interpret.h"
#include "runtime/executor.h"

namespace tenon::graph_test {

class RunBucket {
 public:
  using Inputs = std::map<std::string, graph::Tensor>;

  // Without marks: a graph like any other.
  RunBucket(const graph::Graph& graph, const graph::BucketAxes& marked, program::DeviceKind device)
      : RunBucket(compiled(graph, marked, device)) {}

  const ActiveExtentReport& report() const { return report_; }
  void set(int64_t rows) { rows_.set(rows); }

  // Inputs, and parameters without data, by name. Outputs lie where the last run's did.
  std::vector<graph::Tensor> run(const Inputs& inputs) {
    for (const program::ParamSlot& param : program_->params) {
      const auto found = inputs.find(param.name);
      if (found == inputs.end()) continue;
      const graph::Tensor& t = found->second;
      executor_->set_param(param.name, t.dtype, t.shape, t.bytes.data()).throw_if_error();
    }
    std::vector<runtime::IoView> views;
    for (size_t i = 0; i < program_->inputs.size(); ++i) {
      const graph::Tensor& t = inputs.at(program_->inputs[i].name);
      views.push_back(
          rows_.input(i, {const_cast<std::byte*>(t.bytes.data()), t.dtype, t.shape, {}}));
    }
    executor_->bind(views).throw_if_error();
    rows_.resolve(views);
    block_.run(*executor_, rows_, {}).throw_if_error();
    std::vector<graph::Tensor> results;
    for (const TensorView& view : block_.views()) {
      const std::byte* first = block_.data() + block_.slots()[results.size()].offset;
      const int64_t length = block_.slots()[results.size()].length;
      results.push_back({view.dtype, view.shape, {first, first + length}});
    }
    return results;
  }

 private:
  static driver::Compiled compiled(const graph::Graph& graph, const graph::BucketAxes& marked,
                                   program::DeviceKind device) {
    driver::Options options{.cpu = cpu_info()};
    options.device = device;
    options.bucket_axes = marked;
    return driver::compile(graph, options);
  }
  explicit RunBucket(driver::Compiled compiled)
      : report_(std::move(compiled.active)),
        program_(std::make_shared<const program::Program>(std::move(compiled.program))),
        executor_(program_->device == program::DeviceKind::Cpu
                      ? runtime::Executor::load(program_, thread_pool()).take()
                      : runtime::Executor::load(program_, emulate::open_emulated_gpu()).take()),
        rows_(*program_, report_),
        block_(*program_) {}

  ActiveExtentReport report_;
  std::shared_ptr<const program::Program> program_;
  std::unique_ptr<runtime::Executor> executor_;
  compiled::ActiveRows rows_;
  compiled::OutputBlock block_;
};

// Elements of a tensor with all rows are those of `part`, but for a share of their size, or as
// `before` has them. The first that is not, else empty.
inline std::string difference(const graph::Tensor& whole, const graph::Tensor& part,
                              const graph::Tensor& before, double share) {
  const auto size = static_cast<size_t>(size_of(whole.dtype));
  for (size_t at = 0; at < whole.bytes.size(); at += size) {
    auto rest = static_cast<int64_t>(at / size);
    int64_t in_part = 0, stride = 1;
    bool is_part = true;
    for (size_t axis = whole.shape.size(); axis-- > 0; rest /= whole.shape[axis]) {
      const int64_t index = rest % whole.shape[axis];
      is_part = is_part && index < part.shape[axis];
      in_part += index * stride;
      stride *= part.shape[axis];
    }
    const std::byte* expected =
        is_part ? &part.bytes[static_cast<size_t>(in_part) * size] : &before.bytes[at];
    if (std::equal(expected, expected + size, &whole.bytes[at])) continue;
    const double is = load_as_f64(whole.dtype, &whole.bytes[at]);
    const double should = load_as_f64(whole.dtype, expected);
    if (is_part && std::abs(is - should) <= share * (1 + std::abs(should))) continue;
    return fmt::format("element {} is {}, not {}: {}", at / size, is, should,
                       is_part ? "it is active" : "it was to stay");
  }
  return {};
}

// What two kernels of a device may differ by: on CPUs nothing. On a GPU one for a constant extent
// may be scheduled otherwise than one for every extent, and then rounds otherwise.
inline double share_of(program::DeviceKind device, DType dtype) {
  if (device == program::DeviceKind::Cpu || !is_float(dtype)) return 0;
  return dtype == DType::BF16 ? 0x1p-6 : dtype == DType::F16 ? 0x1p-8 : 1e-5;
}

}  // namespace tenon::graph_test
