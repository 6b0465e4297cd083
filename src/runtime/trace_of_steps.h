// The steps of every run as events of the trace (tenon/trace.h).
#pragma once

#include "runtime/step_observer.h"

namespace tenon::runtime {

StepObserver* trace_of_steps();  // null: none is written

}  // namespace tenon::runtime
