#include "runtime/trace_of_steps.h"

#include "base/trace.h"
#include "runtime/step_list.h"

namespace tenon::runtime {
namespace {

class TraceOfSteps : public StepObserver {
  void ran(const StepList& steps, int index, StepClock::time_point begin,
           StepClock::time_point end) override {
    const program::Step& step = steps.step(index);
    trace_event("kernel", step.kind, step.origin, begin, end);
  }
};

}  // namespace

StepObserver* trace_of_steps() {
  static TraceOfSteps trace;
  return tracing() ? &trace : nullptr;
}

}  // namespace tenon::runtime
