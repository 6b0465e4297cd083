// The suite's own comparison of a result with what is expected: dtype, shape, then every element
// within atol + rtol * |expected|; NaN equals NaN. For bf16 rtol is at least 1/64.
#pragma once

#include <string>

#include "graph/interpret.h"

namespace tenon::onnx_test {

struct Tolerance {
  double rtol = 1e-3, atol = 1e-7;
};

// Empty where they agree; else what differs.
std::string difference(const graph::Tensor& actual, const graph::Tensor& expected,
                       Tolerance tolerance);

}  // namespace tenon::onnx_test
