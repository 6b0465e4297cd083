// `tenon onnx-test`: cases of the ONNX backend test suites, interpreted or compiled for a device.
// What the compiler cannot run yet is interpreted, and counted so.
#include <fmt/format.h>

#include <functional>
#include <memory>

#include "base/cpu_info.h"
#include "base/error.h"
#include "base/knobs.h"
#include "base/thread_pool.h"
#include "codegen/cuda/nvrtc.h"
#include "driver/pipeline.h"
#include "emulate/emulated_gpu.h"
#include "program/artifact.h"
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

std::shared_ptr<const program::Program> through_bytes(const program::Program& program) {
  const auto bytes = std::make_shared<const std::string>(program::ArtifactBytes(program).joined());
  return program::read_artifact(std::as_bytes(std::span(*bytes)), bytes, {.name = "artifact"})
      .take();
}

// What compiles and loads, the same for every case.
struct Compiler {
  driver::Options options;
  bool saved = false;  // what runs was an artifact meanwhile
  std::function<std::shared_ptr<runtime::DeviceStream>()> open;

  Prepared operator()(const graph::Graph& g) const {
    try {
      auto program = std::make_shared<const program::Program>(driver::compile(g, options).program);
      if (saved) program = through_bytes(*program);
      std::shared_ptr<Executor> executor = Executor::load(std::move(program), open()).take();
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
  runtime::DeviceId id;
  if (device.kind() == tenon::Device::Kind::Cuda) {
    if (!is_available(device))
      throw user_error("{} is not available: {}", to_string(device), why_unavailable(device));
    if (!codegen::cuda::has_nvrtc() && knobs().cuda_cache.empty())
      throw user_error("{}: no NVRTC is found; TENON_NVRTC may name it", to_string(device));
    id = {program::DeviceKind::Cuda, device.index()};
    compiler.options.device = id.kind;
    compiler.options.cuda_arch = runtime::cuda_arch(device.index()).take();
  }
  compiler.open = [id] { return runtime::open_stream(id, thread_pool()).take(); };
  return compiler;
}

Device artifact() {
  Compiler compiler;
  compiler.options.cpu = cpu_info();
  compiler.saved = true;
  compiler.open = [] { return runtime::open_stream({}, thread_pool()).take(); };
  return compiler;
}

Device emulated_gpu() {
  Compiler compiler;
  compiler.options.device = program::DeviceKind::EmulatedGpu;
  compiler.open = emulate::open_emulated_gpu;
  return compiler;
}

// Compiles for a GPU that need not be there (and leaves cubins in TENON_CUDA_CACHE); the numbers
// are the interpreter's.
Device cubins_only(int arch) {
  if (!codegen::cuda::has_nvrtc())
    throw user_error("cubins:{}: no NVRTC is found; TENON_NVRTC may name it", arch);
  return [arch](const graph::Graph& g) -> Prepared {
    driver::Options options;
    options.device = program::DeviceKind::Cuda;
    options.cuda_arch = arch;
    try {
      driver::compile(g, options);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Unsupported) throw;
      return onnx_test::interpreted(g, error.what());
    }
    return {[&g](const Inputs& inputs) { return graph::interpret(g, inputs); }, true, {}};
  };
}

// Devices that only the suite has, beside those of the API.
struct SuiteDevice {
  std::string_view name;
  Device (*make)();
};
constexpr SuiteDevice kSuiteDevices[] = {
    {"interpreter",
     [] { return Device([](const graph::Graph& g) { return onnx_test::interpreted(g); }); }},
    {"artifact", artifact},
    {"emulated-gpu", emulated_gpu},
    {"cubins:80", [] { return cubins_only(80); }},
    {"cubins:90", [] { return cubins_only(90); }},
};

Device device_of(const std::string& name, const std::string& codegen) {
  std::string others;
  for (const SuiteDevice& device : kSuiteDevices) {
    others += fmt::format(", {}", device.name);
    if (device.name != name) continue;
    if (!codegen.empty())
      throw UsageError("--codegen {}: device {} generates no code for CPUs", codegen, name);
    return device.make();
  }
  tenon::Device device;
  try {
    device = tenon::Device::parse(name);
  } catch (const Error& error) {
    throw UsageError("{}{}", error.what(), others);
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
