// CompiledGraph as a file: see program/artifact.h.
#include <chrono>

#include "base/atomic_file.h"
#include "base/cpu_info.h"
#include "base/error.h"
#include "base/log.h"
#include "base/shared_file.h"
#include "base/thread_pool.h"
#include "compiled/device_id.h"
#include "compiled/impl.h"
#include "program/artifact.h"

namespace tenon {
namespace {

std::shared_ptr<const program::Program> read(const std::string& path, const LoadOptions& options) {
  auto file = map_shared(path).take();
  return program::read_artifact(file->bytes(), file,
                                {.name = path, .check_weights = options.check_weights})
      .take();
}

Device choose_device(const program::Program& program, const std::string& path,
                     const LoadOptions& options) {
  const Device device = options.device.value_or(Device::parse(program::name_of(program.device)));
  if (device_id(device).kind != program.device) {
    throw user_error("[{}] the artifact was compiled for {}, not for {}", path,
                     program::name_of(program.device), to_string(device));
  }
  if (const Status status = program::check_cpu(program.cpu, cpu_info()); !status.ok())
    throw user_error("[{}] the artifact cannot run here: {}", path, status.error().what());
  return device;
}

}  // namespace

void CompiledGraph::save(const std::string& path) const {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  program::Program program = *impl.program;
  for (size_t i = 0; impl.loaded && i < program.params.size(); ++i) {
    const auto index = static_cast<int>(i);
    if (!impl.loaded->params().was_set(index)) continue;
    auto value = std::make_shared<std::vector<std::byte>>(impl.loaded->read_param(index).take());
    program.params[i].initial = *value;
    program.params[i].owner = std::move(value);
  }
  write_atomically(path, program::ArtifactBytes(program).pieces());
}

CompiledGraph CompiledGraph::load(const std::string& path, const LoadOptions& options) {
  if (options.threads < 0)
    throw user_error("[load] {} threads: 0 or more are needed", options.threads);
  const auto begin = std::chrono::steady_clock::now();
  auto program = read(path, options);
  const Device device = choose_device(*program, path, options);
  auto stream = runtime::open_stream(device_id(device), thread_pool()).take();
  auto executor = runtime::Executor::load(program, std::move(stream)).take();
  if (options.threads > 0) executor->set_threads(options.threads);
  auto impl = std::make_unique<Impl>(std::move(program), device, std::move(executor));
  impl->stats.kernels = static_cast<int>(impl->program->code.size());
  impl->stats.steps = static_cast<int>(impl->program->steps.size());
  impl->stats.weight_bytes = impl->loaded->params().param_bytes();
  impl->stats.packed_bytes = impl->loaded->params().packed_bytes();
  const auto end = std::chrono::steady_clock::now();
  impl->stats.milliseconds = std::chrono::duration<double, std::milli>(end - begin).count();
  impl->name = path;
  log(LogLevel::Info, "loaded {} for {} in {:.1f} ms: {} kernels, {} steps, {:.1f} MB of weights",
      path, to_string(device), impl->stats.milliseconds, impl->stats.kernels, impl->stats.steps,
      static_cast<double>(impl->stats.weight_bytes) / 1e6);
  return CompiledGraph(std::move(impl));
}

}  // namespace tenon
