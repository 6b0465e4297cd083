// What the values of variables decide about an operation before it runs: what its rule had to
// assume about extents, and whether its results can be as large as they are. So an Error is one of
// the call that makes it, although what is compiled holds for other values too.
#pragma once

#include "graph/node.h"
#include "lazy/expression.h"
#include "tenon/variable.h"

namespace tenon::lazy {

// What needs a variable without a value is left to the run.
void check_values(const graph::Node& rule, const VariableValues& values);
// That results have no more bytes than an int64_t counts.
void check_sizes(const graph::Node& rule, const VariableValues& values = {});
// That what chooses a largest element has one, also where other values decide it later.
void check_extreme(const Operation& operation, const VariableValues& values);

}  // namespace tenon::lazy
