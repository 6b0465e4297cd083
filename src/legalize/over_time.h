// Recurrences: a step written once, repeated along the first axis of its sequences. A few steps of
// a known number stand one after the other; otherwise they are a loop with the step as its body.
#pragma once

#include <functional>

#include "legalize/term.h"

namespace tenon::legalize::decompositions {

// What a recurrence reads and carries, in the graph around it.
struct Recurrence {
  Dim time;
  std::vector<Value> sequences;  // [time, ...]: a step sees its own element
  std::vector<Value> fixed;      // every step sees them whole
  std::vector<Value> states;     // before the first step; steps keep their types
};

struct StepInputs {
  Graph& g;     // to write the step in
  Term number;  // i64[], from 0
  std::vector<Value> elements, fixed, states;
};

struct StepOutputs {
  std::vector<Value> states, results;
};

using Step = std::function<StepOutputs(const StepInputs&)>;

// The states after the last step, and each result of all steps as [time, ...].
StepOutputs over_time(Graph& g, const Recurrence& recurrence, const Step& step);

}  // namespace tenon::legalize::decompositions
