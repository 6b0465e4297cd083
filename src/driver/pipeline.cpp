// The whole compiler, top to bottom: tensor IR, regions, loop IR, memory plan, machine code.
#include "driver/pipeline.h"

#include "base/knobs.h"
#include "base/log.h"
#include "driver/backend.h"
#include "driver/dump.h"
#include "driver/pass_runner.h"
#include "driver/program_builder.h"
#include "fuse/fuse.h"
#include "legalize/decompose.h"
#include "legalize/decompose_fused.h"
#include "legalize/legalize.h"
#include "plan/plan_arena.h"
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
  log(LogLevel::Info, "compiled {} kernels, {} steps in {:.1f} ms", compiled.kernels,
      compiled.program.steps.size(), total);
}

// What the options say; else the environment.
plan::Options plan_options(const Options& options) {
  if (options.plan || knobs().memory_planner.empty()) return options.plan.value_or(plan::Options());
  return {.mode = plan::parse_mode(knobs().memory_planner).value()};
}

enum class Stage : uint8_t { Preprocess, Optimize };

struct Pass {
  Stage stage;
  std::string_view name;
  graph::Graph (*function)(const graph::Graph&, const Options&);
};

template <graph::Graph (*function)(const graph::Graph&)>
graph::Graph plain(const graph::Graph& graph, const Options&) {
  return function(graph);
}

graph::Graph apply_precision(const graph::Graph& graph, const Options& options) {
  return legalize::apply_precision(graph, options.precision_policy);
}

constexpr Pass kPasses[] = {
#define PASS(stage, name, function) {Stage::stage, #name, function},
#include "driver/passes.def"
#undef PASS
};

graph::Graph run_stage(Stage stage, const graph::Graph& source, const Options& options,
                       std::vector<PassTime>& times) {
  const PassRunner run(options, times);
  graph::Graph graph = source;
  for (const Pass& pass : kPasses) {
    if (pass.stage != stage) continue;
    graph = run(
        pass.name, [&](const graph::Graph& from) { return pass.function(from, options); },
        std::move(graph));
  }
  return graph;
}

}  // namespace

Pipeline::Pipeline(Options options)
    : options_(std::move(options)), backend_(make_backend(options_)) {
  if (!options_.dump && !knobs().dump.empty()) options_.dump = dump_to_folder(knobs().dump);
}

graph::Graph Pipeline::preprocess(const graph::Graph& source) {
  return run_stage(Stage::Preprocess, source, options_, times_);
}

Optimized Pipeline::optimize(const graph::Graph& preprocessed) {
  Optimized result{run_stage(Stage::Optimize, preprocessed, options_, times_), {}};
  legalize::check_supported(result.graph);
  result.fusion = fuse::fusion_report(preprocessed, result.graph);
  return result;
}

Lir Pipeline::plan(const graph::Graph& optimized) {
  const PassRunner run(options_, times_);
  Lir lir{.graph = optimized};
  const fuse::Regions regions =
      run.timed("partition", [&] { return fuse::partition(lir.graph, options_.outer_symbols); });
  Options of_body = options_;
  if (options_.dump) {
    of_body.dump = [&](std::string_view pass, const std::string& text) {
      options_.dump(fmt::format("body:{}", pass), text);
    };
  }
  bool needs_bf16 = false;
  const auto compile_body = [&](const graph::Graph& body, const std::set<std::string>& around) {
    of_body.outer_symbols = around;
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
  lir.program.cpu.bf16 = needs_bf16;
  run.timed("plan", [&] { return plan::plan_arena(lir.program, plan_options(options_)); });
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
  result.fusion = std::move(optimized.fusion);
  Lir lir = pipeline.plan(optimized.graph);
  result.kernels = lir.body_kernels + static_cast<int>(lir.kernels.size());
  result.program = pipeline.generate(std::move(lir));
  result.times = pipeline.times();
  log_what_was_done(result);
  return result;
}

}  // namespace tenon::driver
