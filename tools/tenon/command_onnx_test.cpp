// `tenon onnx-test`: cases of the ONNX backend test suites, interpreted or compiled for a device.
// What the compiler cannot run yet is interpreted, and counted so.
#include <fmt/format.h>

#include <memory>

#include "base/cpu_info.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "driver/pipeline.h"
#include "runtime/devices.h"
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

// What compiles and loads, the same for every case.
struct Compiler {
  driver::Options options;
  runtime::DeviceId device;

  Prepared operator()(const graph::Graph& g) const {
    try {
      auto program = std::make_shared<const program::Program>(driver::compile(g, options).program);
      auto stream = runtime::open_stream(device, thread_pool()).take();
      std::shared_ptr<Executor> executor =
          Executor::load(std::move(program), std::move(stream)).take();
      return {
          [executor](const Inputs& inputs) { return run_compiled(*executor, inputs); }, true, {}};
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Unsupported) throw;
      return onnx_test::interpreted(g, error.what());
    }
  }
};

Device compiled_for(const tenon::Device& device, const std::string& codegen) {
  Compiler compiler;
  compiler.options.cpu = cpu_info();
  compiler.options.codegen = codegen;
  if (device.kind() == tenon::Device::Kind::Cuda) {
    if (!is_available(device))
      throw user_error("{} is not available: {}", to_string(device), why_unavailable(device));
    compiler.device = {program::DeviceKind::Cuda, device.index()};
    compiler.options.device = compiler.device.kind;
    compiler.options.cuda_arch = runtime::cuda_arch(device.index()).take();
  }
  return compiler;
}

Device device_of(const std::string& name, const std::string& codegen) {
  if (name == "interpreter") {
    if (!codegen.empty())
      throw UsageError("--codegen {}: device {} generates no code", codegen, name);
    return [](const graph::Graph& g) { return onnx_test::interpreted(g); };
  }
  tenon::Device device;
  try {
    device = tenon::Device::parse(name);
  } catch (const Error& error) {
    throw UsageError("{}, interpreter", error.what());
  }
  check_codegen(codegen, device);
  return compiled_for(device, codegen);
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
