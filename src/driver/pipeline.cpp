// The whole compiler, top to bottom: tensor IR, regions, loop IR, machine code, memory plan.
#include "driver/pipeline.h"

#include "base/knobs.h"
#include "base/log.h"
#include "driver/backend.h"
#include "driver/dump.h"
#include "driver/pass_runner.h"
#include "driver/program_builder.h"
#include "fuse/fuse.h"
#include "legalize/decompose.h"
#include "legalize/legalize.h"
#include "plan/plan_arena.h"
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

}  // namespace

Compiled compile(const graph::Graph& source, const Options& given) {
  Compiled result;
  Options options = given;
  if (!options.dump && !knobs().dump.empty()) options.dump = dump_to_folder(knobs().dump);
  const PassRunner run(options, result.times);

  graph::Graph g = source;
#define PASS(name, function) g = run(#name, function, std::move(g));
#include "driver/passes.def"
#undef PASS
  legalize::check_supported(g);
  result.fusion = fuse::fusion_report(source, g);

  const fuse::Regions regions =
      run.timed("partition", [&] { return fuse::partition(g, options.outer_symbols); });
  Options of_body = options;
  of_body.dump = nullptr;
  const auto compile_body = [&](const graph::Graph& body, const std::set<std::string>& around) {
    of_body.outer_symbols = around;
    Compiled compiled = compile(body, of_body);
    result.kernels += compiled.kernels;
    return std::make_shared<const program::Program>(std::move(compiled.program));
  };
  const std::unique_ptr<Backend> backend = make_backend(options);
  ProgramBuilder builder(g, regions, *backend, options.outer_symbols, compile_body);
  run.timed("lower",
            [&] { return builder.lower(); });  // regions -> scheduled kernels, equal ones once
  run.timed("codegen", [&] { return builder.generate(); });  // kernels -> machine code
  result.kernels += builder.kernel_count();
  builder.for_each_kernel([&](const kernel::Kernel& kernel) {
    if (options.see_kernel) options.see_kernel(kernel);
    run.dump("kernel:" + kernel.name, [&] { return kernel::print(kernel); });
    run.dump("source:" + kernel.name, [&] { return builder.source(kernel); });
  });
  result.program = builder.take();
  backend->describe(result.program);
  run.timed("plan", [&] { return plan::plan_arena(result.program, plan_options(options)); });
  log_what_was_done(result);
  return result;
}

}  // namespace tenon::driver
