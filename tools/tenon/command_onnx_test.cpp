// `tenon onnx-test`: cases of the ONNX backend test suites, on the interpreter or compiled. What
// the compiler cannot run yet is interpreted, and counted so.
#include <fmt/format.h>

#include <memory>

#include "base/cpu_info.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "driver/pipeline.h"
#include "runtime/run_owned.h"
#include "tools/onnx_test/suite.h"
#include "tools/tenon/commands.h"

namespace tenon::cli {
namespace {

using graph::Tensor;
using onnx_test::Device;
using onnx_test::Inputs;
using onnx_test::Prepared;
using runtime::Executor;
using runtime::IoView;

std::vector<Tensor> run_compiled(Executor& executor, const Inputs& inputs) {
  std::vector<IoView> views;
  for (const program::IoSlot& slot : executor.program().inputs) {
    const auto given = inputs.find(slot.name);
    if (given == inputs.end()) throw user_error("input \"{}\" is missing", slot.name);
    const Tensor& tensor = given->second;
    views.push_back({const_cast<std::byte*>(tensor.bytes.data()), tensor.dtype, tensor.shape, {}});
  }
  std::vector<runtime::OwnedOutput> owned = runtime::run_owned(executor, views).take();
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < owned.size(); ++i) {
    outputs.push_back({executor.program().outputs[i].type.dtype, std::move(owned[i].shape),
                       std::move(owned[i].bytes)});
  }
  return outputs;
}

Prepared compiled_for_cpu(const graph::Graph& g) {
  try {
    driver::Options options;
    options.cpu = cpu_info();
    auto program = std::make_shared<const program::Program>(driver::compile(g, options).program);
    std::shared_ptr<Executor> executor = Executor::load(std::move(program), thread_pool()).take();
    return {[executor](const Inputs& inputs) { return run_compiled(*executor, inputs); }, true, {}};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Unsupported) throw;
    return onnx_test::interpreted(g, error.what());
  }
}

Prepared interpreted(const graph::Graph& g) { return onnx_test::interpreted(g); }

struct DeviceRow {
  std::string_view name;
  Prepared (*prepare)(const graph::Graph&);
  std::string_view codegen;  // what generates its code; empty: nothing
};

constexpr DeviceRow kDevices[] = {
    {"interpreter", interpreted, ""},
    {"cpu", compiled_for_cpu, "llvm"},
};

Device device_of(const std::string& name, const std::string& codegen) {
  for (const DeviceRow& row : kDevices) {
    if (row.name != name) continue;
    if (codegen.empty() || codegen == row.codegen) return row.prepare;
    throw UsageError("--codegen {}: device {} {}", codegen, name,
                     row.codegen.empty() ? "generates no code"
                                         : fmt::format("has the generator {}", row.codegen));
  }
  throw UsageError("device '{}' is not known; there are: interpreter, cpu", name);
}

}  // namespace

int onnx_test(const OnnxTestOptions& options) {
  const Device device = device_of(options.device, options.codegen);
  onnx_test::SuiteOptions suite;
  suite.folders = options.folders;
  suite.verbose = options.verbose;
  if (!options.skip.empty()) suite.skip = onnx_test::SkipList(options.skip);
  return (options.symbolic ? onnx_test::run_suite_symbolic : onnx_test::run_suite)(suite, device);
}

}  // namespace tenon::cli
