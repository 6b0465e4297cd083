// The table of gate activations.
#include "graph/gate_activation.h"

#include <algorithm>
#include <cmath>

namespace tenon::graph {

namespace {

constexpr GateActivation kGateActivations[] = {
    {"relu", [](double x, double, double) { return std::isnan(x) ? x : std::max(x, 0.0); }, 0, 0,
     0},
    {"tanh", [](double x, double, double) { return std::tanh(x); }, 0, 0, 0},
    {"sigmoid", [](double x, double, double) { return 1 / (1 + std::exp(-x)); }, 0, 0, 0},
    {"affine", [](double x, double a, double b) { return a * x + b; }, 2, 1, 0},
    {"leakyrelu", [](double x, double a, double) { return x < 0 ? a * x : x; }, 1, 0.01, 0},
    {"thresholdedrelu", [](double x, double a, double) { return x >= a ? x : 0; }, 1, 1, 0},
    {"scaledtanh", [](double x, double a, double b) { return a * std::tanh(b * x); }, 2, 1, 1},
    {"hardsigmoid", [](double x, double a, double b) { return std::clamp(a * x + b, 0.0, 1.0); }, 2,
     0.2, 0.5},
    {"elu", [](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; }, 1, 1, 0},
    {"softsign", [](double x, double, double) { return x / (1 + std::abs(x)); }, 0, 0, 0},
    {"softplus",
     [](double x, double, double) { return std::fmax(x, 0) + std::log1p(std::exp(-std::abs(x))); },
     0, 0, 0},
};

}  // namespace

const GateActivation* find_gate_activation(std::string_view name) {
  const auto* found = std::ranges::find(kGateActivations, name, &GateActivation::name);
  return found == std::end(kGateActivations) ? nullptr : found;
}

}  // namespace tenon::graph
