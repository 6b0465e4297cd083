// The active extent of a CompiledGraph. One program serves the whole bucket: where it was compiled
// for constant rows only, one that can takes its place when the first active extent is set.
#include "types/active_extent.h"

#include "base/error.h"
#include "compiled/impl.h"

namespace tenon {
namespace {

// Of a program that has an active extent.
ActiveExtentReport describe(const program::Program& program, int64_t upper) {
  ActiveExtentReport report{.upper = upper};
  if (upper == 0) return report;
  for (const program::IoSlot& slot : program.inputs) {
    std::vector<int> axes;
    for (int axis = 0; axis < slot.type.shape.rank(); ++axis) {
      if (is_active(slot.type.shape[axis])) axes.push_back(axis);
    }
    if (!axes.empty()) report.inputs.push_back({slot.name, axes});
  }
  for (const program::IoSlot& slot : program.outputs)
    report.outputs.push_back({slot.name, slot.type.to_string(), is_active(slot.type.shape)});
  return report;
}

// A program that runs at full extent would append what short inputs are filled up with.
void check_appends_nothing(const program::Program& program, const ActiveExtentReport& report,
                           int64_t actual) {
  if (report.fallback.empty() || actual == report.upper) return;
  for (const program::IoSlot& slot : program.inputs) {
    if (!slot.state) continue;
    throw user_error(
        "[set_active_extent] {} rows of {}, but the program runs at full extent and would write "
        "all {} to the state \"{}\": {}",
        actual, report.upper, report.upper, slot.name, report.fallback);
  }
}

}  // namespace

void CompiledGraph::Impl::serve_rows(ActiveExtentReport report) {
  rows = compiled::ActiveRows(*program, report);
  active = report.fallback.empty() ? describe(*program, rows.upper()) : std::move(report);
}

void CompiledGraph::Impl::serve_bucket(int64_t upper) {
  if (rows.upper() == upper) return;
  if (!make_active) {
    if (rows.upper() > 0)
      throw user_error("[set_active_extent] upper is {}, but the graph is compiled for {}", upper,
                       rows.upper());
    throw user_error(
        "[set_active_extent] upper is {}, but the file was saved without an active extent: mark "
        "the bucket's axis of an input, or set an active extent before it is saved. A graph that "
        "falls back to full extent, as its report says before, is saved without one",
        upper);
  }
  compiled::ActiveProgram made = make_active(upper);
  if (loaded && made.executor) {
    made.executor->set_threads(loaded->threads());
    made.executor->take_params(*loaded);
    made.executor->handles().copy_from(loaded->handles());
  }
  second.reset();
  block.serve(*made.program);
  loaded = std::move(made.executor);
  specializer = std::move(made.specializer);
  program = std::move(made.program);
  stats.kernels = made.kernels;
  stats.steps = static_cast<int>(program->steps.size());
  serve_rows(std::move(made.report));
}

void CompiledGraph::set_active_extent(int64_t actual, int64_t upper) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  if (actual < 1 || actual > upper) {
    throw user_error("[set_active_extent] {} rows are none of 1..upper, which is {}", actual,
                     upper);
  }
  impl.serve_bucket(upper);
  check_appends_nothing(*impl.program, impl.active, actual);
  impl.rows.set(actual);
}

void CompiledGraph::clear_active_extent() {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  impl.rows.clear();
}

const ActiveExtentReport& CompiledGraph::active_extent_report() const { return impl().active; }

}  // namespace tenon
