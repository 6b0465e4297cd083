// CompiledGraph::load: see program/artifact.h for the file.
#include <algorithm>
#include <chrono>

#include "base/cpu_info.h"
#include "base/error.h"
#include "base/log.h"
#include "base/shared_file.h"
#include "base/thread_pool.h"
#include "compiled/choose_variant.h"
#include "compiled/device_id.h"
#include "compiled/impl.h"
#include "compiled/shared_weights.h"
#include "compiled/weights_path.h"
#include "program/artifact.h"
#include "program/check_params.h"

namespace tenon {
namespace {

using program::Artifact;
using program::DeviceKind;
using program::Weights;

program::FileBytes map(const std::string& path) {
  auto file = map_shared(path).take();
  const auto bytes = file->bytes();
  return {bytes, std::move(file), path};
}

std::shared_ptr<const Weights> open_weights(const Artifact& artifact, const std::string& path) {
  if (!artifact.has_weights_beside()) return compiled::share(artifact.weights().take());
  auto file = map_shared(weights_path(path));
  if (!file)
    throw user_error("[{}] the artifact cannot be used: its weights are beside it, but {}", path,
                     file.error().what());
  const auto bytes = file.value()->bytes();
  return compiled::share(
      artifact.weights({bytes, std::move(file.value()), weights_path(path)}).take());
}

Device choose_device(const Artifact& artifact, const LoadOptions& options) {
  if (options.device) return *options.device;
  return Device::parse(program::name_of(compiled::default_device(artifact.variants())));
}

// For people: which device, and which code for it.
std::string text_of(const Device& device, const program::Variant& variant) {
  if (variant.device != DeviceKind::Cuda) return to_string(variant);
  return fmt::format("{} ({})", to_string(device), to_string(variant));
}

size_t choose(const Artifact& artifact, const Device& device, const std::string& path) {
  const runtime::DeviceId id = device_id(device);
  const auto fail = [&](const Error& why) {
    throw user_error("[{}] the artifact cannot run on {}: {}", path, to_string(device), why.what());
  };
  const auto is_for_it = [&](const program::Variant& each) { return each.device == id.kind; };
  compiled::Machine machine{cpu_info()};
  if (id.kind == DeviceKind::Cuda && std::ranges::any_of(artifact.variants(), is_for_it)) {
    const auto arch = runtime::cuda_arch(id.index);
    if (!arch) fail(arch.error());
    machine.cuda_arch = arch.value();
  }
  const auto variant = compiled::choose_variant(artifact.variants(), id.kind, machine);
  if (!variant) fail(variant.error());
  return variant.value();
}

}  // namespace

CompiledGraph CompiledGraph::load(const std::string& path, const LoadOptions& options) {
  if (options.threads < 0)
    throw user_error("[load] {} threads: 0 or more are needed", options.threads);
  const auto begin = std::chrono::steady_clock::now();
  const auto artifact = Artifact::open(map(path)).take();
  const Device device = choose_device(*artifact, options);
  const size_t variant = choose(*artifact, device, path);
  auto program = artifact
                     ->program(variant, open_weights(*artifact, path),
                               options.check_weights != WeightCheck::Never)
                     .take();
  if (options.check_weights == WeightCheck::AtLoad)
    program::check_params(*program, options.threads).throw_if_error();
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
      path, text_of(device, artifact->variants()[variant]), impl->stats.milliseconds,
      impl->stats.kernels, impl->stats.steps, static_cast<double>(impl->stats.weight_bytes) / 1e6);
  return CompiledGraph(std::move(impl));
}

}  // namespace tenon
