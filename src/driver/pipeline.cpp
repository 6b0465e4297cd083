// The whole compiler, top to bottom: tensor IR, regions, loop IR, memory plan, machine code.
#include "driver/pipeline.h"

#include <algorithm>

#include "base/error.h"
#include "base/knobs.h"
#include "base/log.h"
#include "driver/backend.h"
#include "driver/dump.h"
#include "driver/environment.h"
#include "driver/pass_runner.h"
#include "driver/program_builder.h"
#include "fuse/fuse.h"
#include "graph/active_extent.h"
#include "legalize/decompose.h"
#include "legalize/dispatch.h"
#include "legalize/integer_products.h"
#include "legalize/legalize.h"
#include "legalize/precision.h"
#include "plan/memory_map.h"
#include "plan/plan_arena.h"
#include "program/print.h"
#include "schedule/dots.h"
#include "simplify/simplify.h"

namespace tenon::driver {

namespace {

// What the backend has kernels for, and the options let it take.
graph::Claims claims_of(const Backend& backend, const Options& options) {
  return {.backend = backend.name(), .takes = [&](const graph::Node& node) {
            const std::string_view op = graph::info(node.op()).text;
            const auto& supported = options.supported_ops;
            return backend.claims(node) && (!supported || supported->contains(std::string(op)));
          }};
}

// What a pass may need beside the graph.
struct PassContext {
  const Options& options;
  const graph::Claims& claims;
  const Backend& backend;
  DispatchReport& dispatch;
  ActiveExtentReport& active;
};

enum class Stage : uint8_t { Preprocess, Optimize };

struct Pass {
  Stage stage;
  std::string_view name;
  graph::Graph (*function)(const graph::Graph&, PassContext&);
};

template <graph::Graph (*function)(const graph::Graph&)>
graph::Graph plain(const graph::Graph& graph, PassContext&) {
  return function(graph);
}

// A pass that makes fused ops: those that the backend takes.
template <graph::Graph (*function)(const graph::Graph&, const graph::Claims&)>
graph::Graph claimed(const graph::Graph& graph, PassContext& context) {
  return function(graph, context.claims);
}

// A bucket's extent becomes a symbol.
graph::Graph active_extent(const graph::Graph& graph, PassContext& context) {
  const Options& options = context.options;
  graph::ActiveGraph result = options.bucket_axes_guessed
                                  ? graph::with_guessed_extent(graph, options.bucket_axes)
                                  : graph::with_active_extent(graph, options.bucket_axes);
  context.active = std::move(result.report);
  return std::move(result.graph);
}

// Convolutions multiply bytes where images can lie as the rows of a matrix.
graph::Graph integer_products(const graph::Graph& graph, PassContext& context) {
  return legalize::integer_products(graph, context.backend.keeps_channels_last());
}

// A row scale is too coarse in 16 bits: where values are to be stored so, norms stay whole.
graph::Graph fold_row_scale(const graph::Graph& graph, PassContext& context) {
  const bool narrow = legalize::stores_narrow(context.options.precision_policy);
  return narrow ? graph : fuse::fold_row_scale(graph, context.claims);
}

graph::Graph apply_precision(const graph::Graph& graph, PassContext& context) {
  return legalize::apply_precision(graph, context.options.precision_policy);
}

graph::Graph dispatch(const graph::Graph& graph, PassContext& context) {
  return legalize::dispatch(graph, context.claims, *context.options.dispatch, context.dispatch);
}

// Of a part of what is compiled: whatever it dumps and logs has its name in front.
Options options_within(const Options& options, const std::string& name) {
  Options result = options;
  result.name = fmt::format("{}/{}", options.name, name);
  if (!options.dump) return result;
  result.dump = [dump = options.dump, name](std::string_view stage, const std::string& text) {
    dump(fmt::format("{}/{}", name, stage), text);
  };
  return result;
}

Options options_of_body(const Options& options, const std::string& name,
                        const std::set<std::string>& around) {
  Options result = options_within(options, name);
  result.outer_symbols = around;
  result.bucket_axes.clear();
  result.keep_kernels = false;
  return result;
}

constexpr Pass kPasses[] = {
#define PASS(stage, name, function) {Stage::stage, #name, function},
#include "driver/passes.def"
#undef PASS
};

// To the log and to the dump.
template <typename Report>
void report(const Options& options, std::string_view stage, const Report& report) {
  if (log_enabled(LogLevel::Debug))
    log(LogLevel::Debug, "{}: {}\n{}", options.name, stage, report.to_string());
  if (options.dump) options.dump(stage, report.to_string());
}

graph::Graph run_stage(Stage stage, const graph::Graph& source, PassContext context,
                       std::vector<PassTime>& times) {
  const PassRunner run(context.options, times);
  graph::Graph graph = source;
  for (const Pass& pass : kPasses) {
    if (pass.stage != stage) continue;
    graph = run(
        pass.name, [&](const graph::Graph& from) { return pass.function(from, context); },
        std::move(graph));
  }
  return graph;
}

}  // namespace

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for (const Pass& pass : kPasses) names.push_back(pass.name);
  return names;
}

Options with_environment(Options options) {
  options.plan = plan_options(options);
  options.dispatch = dispatch_options(options);
  if (options.device == program::DeviceKind::Cpu) options.optimizer = cpu_strategy(options);
  return options;
}

Pipeline::Pipeline(Options options)
    : options_(with_environment(with_dump(std::move(options)))), backend_(make_backend(options_)) {
  if (options_.optimizer && options_.optimizer->beam_width() > 0 && !options_.choose)
    throw unsupported_error("[compile] optimizer {} is for CPUs and for sessions, the device is {}",
                            to_string(*options_.optimizer), program::name_of(options_.device));
}

graph::Graph Pipeline::preprocess(const graph::Graph& source) {
  PassRunner(options_, times_).dump("graph", [&] { return graph::print(source); });
  rewritten_ = {};
  legalize::report_rewritten(source, rewritten_);
  const graph::Claims claims = claims_of(*backend_, options_);
  active_ = {};
  graph::Graph result = run_stage(Stage::Preprocess, source,
                                  {options_, claims, *backend_, rewritten_, active_}, times_);
  if (active_.upper != 0) {
    PassRunner(options_, times_).dump("active_extent_report", [&] { return active_.to_string(); });
    log(LogLevel::Debug, "{}", active_.to_string());
  }
  return result;
}

Optimized Pipeline::optimize(const graph::Graph& preprocessed) {
  Optimized result{.dispatch = rewritten_};
  const graph::Claims claims = claims_of(*backend_, options_);
  result.graph = run_stage(Stage::Optimize, preprocessed,
                           {options_, claims, *backend_, result.dispatch, active_}, times_);
  result.fusion = fuse::fusion_report(preprocessed, result.graph, claims);
  if (legalize::stores_narrow(options_.precision_policy)) {  // fold_row_scale has nothing to do
    std::erase_if(result.fusion.missed,
                  [](const auto& missed) { return missed.pattern == "fused_row_scale"; });
  }
  report(options_, "fusion_report", result.fusion);
  report(options_, "dispatch_report", result.dispatch);
  if (options_.assert_fusion_clean) check_fusion_clean(result.fusion);
  return result;
}

// The passes that a plan relies on have nothing left to do. (Nodes are interned: what is the same
// is the same node.)
void Pipeline::check_optimized(const graph::Graph& graph) const {
  DispatchReport unused;
  graph::Graph legal = simplify::decompose_split(legalize::decompose(graph));
  legal = legalize::dispatch(legal, claims_of(*backend_, options_), {}, unused);
  legal = legalize::separate_host_operands(legalize::separate_outputs(legal));
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    if (legal.outputs()[i].value != graph.outputs()[i].value)
      throw user_error("[plan] output \"{}\" is not as optimize_with_report leaves it for {}",
                       graph.outputs()[i].name, backend_->name());
  }
}

// What Options::choose says of the kernels of a draft, which is scheduled by the model.
Pipeline::Choices Pipeline::choose_schedules(const graph::Graph& optimized,
                                             const fuse::Regions& regions) const {
  Choices choices;
  if (!options_.choose) return choices;
  std::vector<kernel::Kernel> kernels;
  const auto schedule = [&](const kernel::Kernel& lowered, bool in_prologue) {
    if (!in_prologue && choices.try_emplace(kernel::canonical_text(lowered)).second)
      kernels.push_back(lowered);
    return backend_->schedule(lowered, {});
  };
  const auto compile_body = [&](const graph::Graph& body, const std::set<std::string>& around) {
    Options draft = options_of_body(options_, "draft", around);
    draft.optimizer = OptStrategy::Analytic{};
    draft.choose = nullptr;
    draft.dump = nullptr;
    draft.see_kernel = nullptr;
    return std::make_shared<const program::Program>(compile(body, draft).program);
  };
  ProgramBuilder builder(optimized, regions, schedule, options_.outer_symbols, compile_body);
  builder.lower();
  const program::Program program = builder.take_program();
  const std::vector<schedule::Choice> chosen = options_.choose({program, *backend_, kernels});
  TENON_CHECK(chosen.size() == kernels.size(), "[compile] {} choices for {} kernels", chosen.size(),
              kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i)
    choices[kernel::canonical_text(kernels[i])] = chosen[i];
  return choices;
}

Lir Pipeline::plan(const graph::Graph& optimized) {
  const PassRunner run(options_, times_);
  Lir lir{.graph = optimized};
  fuse::Regions regions = run.timed("partition", [&] {
    return fuse::partition(lir.graph, options_.outer_symbols,
                           options_.fusion_limits.value_or(backend_->fusion_limits()));
  });
  if (backend_->keeps_channels_last() && !run.skips("channels_last"))
    run.timed("channels_last", [&] { return fuse::channels_last(lir.graph, regions), 0; });
  bool needs_bf16 = false, needs_vnni = false;
  int bodies = 0;
  Hasher digest;
  digest.text(graph::digest(optimized).hex());
  const auto compile_body = [&](const graph::Graph& body, const std::set<std::string>& around) {
    const std::string name = fmt::format("body{}", bodies++);
    Compiled compiled = compile(body, options_of_body(options_, name, around));
    compiled_ += compiled.kernels - compiled.kernels_from_cache;
    needs_bf16 = needs_bf16 || compiled.program.cpu.bf16;
    needs_vnni = needs_vnni || compiled.program.cpu.vnni;
    lir.body_kernels += compiled.kernels;
    digest.text(compiled.digest.hex());
    lir.bodies.add(name, compiled.fusion, compiled.dispatch);
    return std::make_shared<const program::Program>(std::move(compiled.program));
  };
  const Choices choices = choose_schedules(lir.graph, regions);
  const auto schedule = [&](const kernel::Kernel& lowered, bool) {
    if (choices.empty()) return backend_->schedule(lowered, {});
    const auto chosen = choices.find(kernel::canonical_text(lowered));
    return backend_->schedule(lowered,
                              chosen == choices.end() ? schedule::Choice() : chosen->second);
  };
  ProgramBuilder builder(lir.graph, regions, schedule, options_.outer_symbols, compile_body);
  run.timed("lower", [&] { return builder.lower(), 0; });  // regions -> kernels, equal ones once
  lir.program = builder.take_program();
  lir.kernels = builder.take_kernels();
  lir.digest = digest.finish();
  backend_->describe(lir.program);
  for (const auto& [kernel, text] : lir.kernels) {
    needs_bf16 = needs_bf16 || schedule::has_dot2(kernel);
    needs_vnni = needs_vnni || schedule::has_dot4(kernel);
  }
  const bool on_cpu = lir.program.device == program::DeviceKind::Cpu;
  lir.program.cpu.bf16 = needs_bf16 && on_cpu;
  lir.program.cpu.vnni = needs_vnni && on_cpu;
  plan::Options plan = *options_.plan;
  plan.alignment = std::max(plan.alignment, lir.program.plan.alignment);  // what the device needs
  run.timed("plan", [&] { return plan::plan_arena(lir.program, plan); });
  dump_plan(lir);
  return lir;
}

void Pipeline::dump_plan(const Lir& lir) const {
  if (!options_.dump) return;
  options_.dump("lir", program::print(lir.program));
  options_.dump("memory_map", plan::memory_map(lir.program));
}

program::Program Pipeline::generate(Lir lir) {
  const PassRunner run(options_, times_);
  Generated generated =
      run.timed("codegen", [&] { return driver::generate(lir.kernels, *backend_); });
  compiled_ += generated.compiled;
  lir.program.code = std::move(generated.code);
  for (const auto& [kernel, text] : lir.kernels) {
    if (options_.see_kernel) options_.see_kernel(kernel);
    run.dump("kernel:" + kernel.name, [&] { return kernel::print(kernel); });
    run.dump("source:" + kernel.name, [&] { return backend_->source(kernel); });
  }
  return std::move(lir.program);
}

Compiled compile(const graph::Graph& source, const Options& options) {
  Pipeline pipeline(options);
  Compiled result;
  Optimized optimized = pipeline.optimize(pipeline.preprocess(source));
  result.active = pipeline.active();
  result.fusion = std::move(optimized.fusion);
  result.dispatch = std::move(optimized.dispatch);
  Lir lir = pipeline.plan(optimized.graph);
  lir.bodies.add_to(result.fusion, result.dispatch);
  result.kernels = lir.body_kernels + static_cast<int>(lir.kernels.size());
  result.digest = lir.digest;
  if (options.keep_kernels) result.scheduled = lir.kernels;
  result.program = pipeline.generate(std::move(lir));
  result.times = pipeline.times();
  result.kernels_from_cache = result.kernels - pipeline.kernels_compiled();
  return result;
}

}  // namespace tenon::driver
