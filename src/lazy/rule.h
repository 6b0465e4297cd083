// Rules: ops with their attributes on operands of given types, interned in one context of the
// process. Making one infers the types of the results, so an error is found when a tensor is made.
#pragma once

#include <vector>

#include "base/interner.h"
#include "graph/node.h"

namespace tenon::lazy {

Ref<graph::Node> stand_in_for(const TensorType& type);
Ref<graph::Node> make_rule(graph::Op op, std::vector<graph::Value> operands,
                           graph::Attributes attributes);
Ref<graph::Node> constant_rule(TensorType type, std::span<const std::byte> bytes);
Ref<graph::Node> dims_rule(std::vector<Dim> values, bool scalar);  // i64

}  // namespace tenon::lazy
