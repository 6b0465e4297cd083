// The whole compiler, top to bottom: tensor IR, regions, loop IR, memory plan, machine code.
#include "driver/pipeline.h"

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
#include "legalize/legalize.h"
#include "legalize/precision.h"
#include "plan/plan_arena.h"
#include "program/print.h"
#include "schedule/dot2.h"
#include "simplify/simplify.h"

namespace tenon::driver {

namespace {

// TENON_LOG=info: a line per compile; debug: its passes and what was fused too.
void log_what_was_done(const Compiled& compiled) {
  double total = 0;
  for (const PassTime& pass : compiled.times) {
    total += pass.milliseconds;
    log(LogLevel::Debug, "pass {}: {:.1f} ms", pass.pass, pass.milliseconds);
  }
  log(LogLevel::Debug, "fused:\n{}", compiled.fusion.to_string());
  log(LogLevel::Debug, "dispatched:\n{}", compiled.dispatch.to_string());
  log(LogLevel::Info, "compiled {} kernels, {} steps in {:.1f} ms", compiled.kernels,
      compiled.program.steps.size(), total);
}

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
  graph::ActiveGraph result = graph::with_active_extent(graph, context.options.bucket_axes);
  context.active = std::move(result.report);
  return std::move(result.graph);
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
  return legalize::dispatch(graph, context.claims, dispatch_options(context.options),
                            context.dispatch);
}

constexpr Pass kPasses[] = {
#define PASS(stage, name, function) {Stage::stage, #name, function},
#include "driver/passes.def"
#undef PASS
};

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

Pipeline::Pipeline(Options options)
    : options_(std::move(options)), backend_(make_backend(options_)) {
  if (!options_.dump && !knobs().dump.empty()) options_.dump = dump_to_folder(knobs().dump);
}

graph::Graph Pipeline::preprocess(const graph::Graph& source) {
  rewritten_ = {};
  legalize::report_rewritten(source, rewritten_);
  const graph::Claims claims = claims_of(*backend_, options_);
  active_ = {};
  graph::Graph result =
      run_stage(Stage::Preprocess, source, {options_, claims, rewritten_, active_}, times_);
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
                           {options_, claims, result.dispatch, active_}, times_);
  result.fusion = fuse::fusion_report(preprocessed, result.graph, claims);
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

Lir Pipeline::plan(const graph::Graph& optimized) {
  const PassRunner run(options_, times_);
  Lir lir{.graph = optimized};
  const fuse::Regions regions = run.timed("partition", [&] {
    return fuse::partition(lir.graph, options_.outer_symbols,
                           options_.fusion_limits.value_or(backend_->fusion_limits()));
  });
  Options of_body = options_;
  if (options_.dump) {
    of_body.dump = [&](std::string_view pass, const std::string& text) {
      options_.dump(fmt::format("body:{}", pass), text);
    };
  }
  bool needs_bf16 = false;
  const auto compile_body = [&](const graph::Graph& body, const std::set<std::string>& around) {
    of_body.outer_symbols = around;
    of_body.bucket_axes.clear();
    Compiled compiled = compile(body, of_body);
    needs_bf16 = needs_bf16 || compiled.program.cpu.bf16;
    lir.body_kernels += compiled.kernels;
    return std::make_shared<const program::Program>(std::move(compiled.program));
  };
  ProgramBuilder builder(lir.graph, regions, *backend_, options_.outer_symbols, compile_body);
  run.timed("lower", [&] { return builder.lower(), 0; });  // regions -> kernels, equal ones once
  lir.program = builder.take_program();
  lir.kernels = builder.take_kernels();
  backend_->describe(lir.program);
  for (const auto& [kernel, text] : lir.kernels)
    needs_bf16 = needs_bf16 || schedule::has_dot2(kernel);
  lir.program.cpu.bf16 = needs_bf16 && lir.program.device == program::DeviceKind::Cpu;
  plan::Options plan = plan_options(options_);
  plan.alignment = std::max(plan.alignment, lir.program.plan.alignment);  // what the device needs
  run.timed("plan", [&] { return plan::plan_arena(lir.program, plan); });
  run.dump("lir", [&] { return program::print(lir.program); });
  return lir;
}

program::Program Pipeline::generate(Lir lir) {
  const PassRunner run(options_, times_);
  lir.program.code = run.timed("codegen", [&] { return driver::generate(lir.kernels, *backend_); });
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
  result.kernels = lir.body_kernels + static_cast<int>(lir.kernels.size());
  result.program = pipeline.generate(std::move(lir));
  result.times = pipeline.times();
  log_what_was_done(result);
  return result;
}

}  // namespace tenon::driver
