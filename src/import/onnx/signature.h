// What a node of an op may have at an opset. The last column of an op's row is a list of words:
//
//   axes              an attribute, in all opsets of the row
//   axes@..12         until opset 12
//   allowzero@14..    since opset 14
//   reduction=max@18..  the value of an attribute, since opset 18
//   #1@13..           input 1 (from 0), since opset 13
//   @..9              the op itself, until opset 9
//
// An attribute without a word, and anything outside its opsets, is an error before the model is
// imported: also in branches that are never taken.
#pragma once

#include <optional>
#include <string>

#include "import/onnx/importers.h"
#include "import/onnx/proto.h"

namespace tenon::onnx {

// Empty where opset `opset` has the op; else what the row says of it ("known from 7 to 9").
std::string op_problem(const Importer& importer, int64_t opset);

// Unsupported where the node has what its op does not have at this opset.
void check_signature(const Importer& importer, const NodeProto& node, int64_t opset);

}  // namespace tenon::onnx
