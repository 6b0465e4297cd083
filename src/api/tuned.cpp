// See tuned.h; and Session::tune.
#include "api/tuned.h"

#include <fmt/ranges.h>

#include "api/driver_options.h"
#include "api/graph_state.h"
#include "base/error.h"
#include "base/function_ref.h"
#include "compiled/device_id.h"
#include "driver/pipeline.h"
#include "graph/specialize.h"
#include "import/onnx/onnx.h"
#include "tenon/session.h"

namespace tenon {
namespace {

// 0: nothing is searched.
int width_of(const driver::Options& how) {
  return how.device == program::DeviceKind::Cpu ? driver::cpu_strategy(how).beam_width() : 0;
}

tune::TunerOptions tuner_options(const CompileOptions& options, int width) {
  return {.width = width,
          .config = options.beam.value_or(BeamConfig()),
          .threads = options.threads,
          .tuned = options.tuned,
          .store = options.disk_cache.value_or(true) ? &cache::default_disk_store() : nullptr};
}

void check(const BeamConfig& config) {
  if (!(config.timeout > 0) || !(config.compile_timeout > 0) || config.max_ops < 1 ||
      !(config.margin >= 0))
    throw user_error(
        "[tune] timeouts and max_ops must be above 0 and margin must not be negative: {} s, {} s, "
        "{}, {}",
        config.timeout, config.compile_timeout, config.max_ops, config.margin);
}

}  // namespace

std::optional<tune::TunerOptions> tuning_of(const CompileOptions& options,
                                            const driver::Options& how) {
  const int width = width_of(how);
  if (options.beam) check(*options.beam);
  if (options.beam && width == 0)
    throw user_error("[compile] beam is given, but the optimizer is not OptStrategy::Beam");
  if (!options.tuned.empty()) {
    if (how.device != program::DeviceKind::Cpu)
      throw unsupported_error("[compile] tuned schedules are for CPUs, the device is {}",
                              program::name_of(how.device));
    if (driver::cpu_strategy(how).is<OptStrategy::Plain>())
      throw user_error("[compile] tuned \"{}\" and the optimizer plain contradict each other",
                       options.tuned);
  }
  if (width == 0 && options.tuned.empty()) return std::nullopt;
  return tuner_options(options, width);
}

void check_typical(const CompileOptions& options, const graph::Graph& graph) {
  if (!options.beam) return;
  const auto& symbols = graph.symbols();
  std::vector<std::string> names;
  for (const auto& [name, symbol] : symbols) names.push_back(name);
  for (const auto& [name, extent] : options.beam->typical.values()) {
    if (!symbols.contains(name))
      throw user_error("[tune] there is no dim \"{}\"; there are: {}", name,
                       fmt::join(names, ", "));
  }
}

void add_tuning(cache::KeyFields& key, const CompileOptions& options, const driver::Options& how) {
  if (!options.tuned.empty())
    key.add("tuned", digest_of(tune::print(tune::read_records(options.tuned))).hex());
  if (how.choose) key.add("tuned.for", tune::target_text(how, tune::threads_of(options.threads)));
}

namespace {

// Plans the graph that `read` gives, and keeps nothing of that.
TuningReport tune_graph(CompileOptions options, const std::map<std::string, int>& marked,
                        FunctionRef<graph::Graph()> read) {
  if (device_of(options).kind() != Device::Kind::Cpu)
    throw unsupported_error("[tune] schedules are searched for CPUs, the device is {}",
                            to_string(device_of(options)));
  if (driver::cpu_strategy({.optimizer = options.optimizer}).beam_width() == 0)
    options.optimizer = OptStrategy::Beam{};
  const auto level = verbosity_of(options);
  driver::Options how = driver_options(options);
  how.bucket_axes = marked;
  tune::Tuner tuner(*tuning_of(options, how), how);
  how.choose = [&](const driver::LoweredKernels& lowered) { return tuner.choose(lowered); };
  graph::Graph graph = read();
  if (graph.outputs().empty())
    throw user_error("[tune] the graph has no outputs: call set_outputs before");
  check_typical(options, graph);
  if (!options.dim_binding.empty()) graph = graph::specialize(graph, options.dim_binding.values());
  driver::Pipeline pipeline(how);
  try {
    pipeline.plan(pipeline.optimize(pipeline.preprocess(graph)).graph);
  } catch (const Error&) {
    if (!tuner.report().stopped) throw;
  }
  return tuner.report();
}

}  // namespace

TuningReport Session::tune(const Graph& graph, const CompileOptions& given) const {
  const CompileOptions options = with_profile(merged(defaults_, given));
  check_dim_bounds(options);
  const GraphState& state = GraphState::of(graph);
  return tune_graph(options, state.bucket_axes, [&] { return state.graph; });
}

TuningReport Session::tune(const HirModule& module, const CompileOptions& given) const {
  const CompileOptions options = with_profile(merged(defaults_, given));
  return tune(lower_hir(module, options.fusion.policy.value_or(FusionPolicy::Direct)), given);
}

TuningReport Session::tune_onnx(const std::string& path, const CompileOptions& given) const {
  const CompileOptions options = with_profile(merged({.name = path}, merged(defaults_, given)));
  return tune_graph(options, {},
                    [&] { return onnx::import_file(path, {.dim_bounds = options.dim_bounds}); });
}

}  // namespace tenon
