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
#include "tools/tenon/arguments.h"
#include "tools/tenon/commands.h"
#include "tools/tenon/compile.h"

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

Prepared compiled_for_cpu(const graph::Graph& g, const std::string& codegen) {
  try {
    driver::Options options;
    options.cpu = cpu_info();
    options.codegen = codegen;
    auto program = std::make_shared<const program::Program>(driver::compile(g, options).program);
    std::shared_ptr<Executor> executor = Executor::load(std::move(program), thread_pool()).take();
    return {[executor](const Inputs& inputs) { return run_compiled(*executor, inputs); }, true, {}};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Unsupported) throw;
    return onnx_test::interpreted(g, error.what());
  }
}

Prepared interpreted(const graph::Graph& g, const std::string&) {
  return onnx_test::interpreted(g);
}

struct DeviceRow {
  std::string_view name;
  Prepared (*prepare)(const graph::Graph&, const std::string& codegen);
  bool generates_code;
};

constexpr DeviceRow kDevices[] = {
    {"interpreter", interpreted, false},
    {"cpu", compiled_for_cpu, true},
};

Device device_of(const std::string& name, const std::string& codegen) {
  for (const DeviceRow& row : kDevices) {
    if (row.name != name) continue;
    if (!codegen.empty() && !row.generates_code)
      throw UsageError("--codegen {}: device {} generates no code", codegen, name);
    check_codegen(codegen);
    return [&row, codegen](const graph::Graph& g) { return row.prepare(g, codegen); };
  }
  throw UsageError("device '{}' is not known; there are: interpreter, cpu", name);
}

}  // namespace

int onnx_test(const OnnxTestOptions& options) {
  const Device device = device_of(options.device, options.codegen);
  onnx_test::SuiteOptions suite;
  suite.folders = options.folders;
  suite.verbose = options.verbose;
  suite.least_symbolic = options.least_symbolic;
  if (!options.sample.empty()) suite.sample = parse_sample(options.sample);
  if (!options.skip.empty()) suite.skip = onnx_test::SkipList(options.skip);
  return (options.symbolic ? onnx_test::run_suite_symbolic : onnx_test::run_suite)(suite, device);
}

}  // namespace tenon::cli
