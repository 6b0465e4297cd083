// The functions that gates of recurrent layers apply, by their ONNX name in lower case. Each has up
// to two parameters; the table knows their defaults.
#pragma once

#include <string_view>

namespace tenon::graph {

struct GateActivation {
  std::string_view name;
  double (*function)(double x, double alpha, double beta);
  int parameters;      // alpha, alpha and beta, or none
  double alpha, beta;  // defaults
};

const GateActivation* find_gate_activation(std::string_view name);  // null: unknown

}  // namespace tenon::graph
