// A case with free extents: every extent of its inputs becomes a symbol of its own, the model is
// compiled once, and runs on the case's data and on a second set of extents against the
// interpreter. Where an operator needs a number, the extents that its message names stay numbers.
#pragma once

#include <string>
#include <vector>

#include "tools/onnx_test/case.h"

namespace tenon::onnx_test {

struct SymbolicResult {
  bool passed = false;
  std::string message;             // what went wrong
  std::vector<std::string> fixed;  // "x_1: why it is a number"
  bool second = false;             // ran on a second set of extents too
};

SymbolicResult run_symbolic(const Case& the_case, const Device& device);

}  // namespace tenon::onnx_test
