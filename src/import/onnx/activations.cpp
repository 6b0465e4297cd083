// One row per activation: its parameters' default values, and what it does in f32 or f64.
#include "import/onnx/activations.h"

#include <array>
#include <limits>

#include "import/onnx/compute.h"

namespace tenon::onnx {
namespace {

using Parameters = std::array<double, 2>;
using Function = Value (*)(Call&, Value, const Parameters&);

Value number(Call& call, Value x, double value) { return number_like(call, x, value); }

Value hard_sigmoid(Call& call, Value x, const Parameters& p) {
  return clamped(call, call.g.add(call.g.mul(x, number(call, x, p[0])), number(call, x, p[1])), 0,
                 1);
}

template <Op op>
Value plain(Call& call, Value x, const Parameters& /*none*/) {
  return call.g.unary(op, x);
}

struct Row {
  std::string_view name;
  size_t count;  // of parameters
  Parameters otherwise;
  Function function;
};

constexpr double kMost = std::numeric_limits<float>::max();
constexpr Row kRows[] = {
    {"Relu", 0, {}, plain<Op::Relu>},
    {"Sigmoid", 0, {}, plain<Op::Sigmoid>},
    {"Tanh", 0, {}, plain<Op::Tanh>},
    {"Softplus", 0, {}, plain<Op::Softplus>},
    {"HardSigmoid", 2, {0.2f, 0.5}, hard_sigmoid},
    {"HardSwish",
     2,
     {1.0 / 6, 0.5},
     [](Call& call, Value x, const Parameters& p) {
       return call.g.mul(x, hard_sigmoid(call, x, p));
     }},
    {"LeakyRelu",
     1,
     {0.01f},
     [](Call& call, Value x, const Parameters& p) {
       return where_negative(call, x, call.g.mul(x, number(call, x, p[0])));
     }},
    {"Elu",
     1,
     {1},
     [](Call& call, Value x, const Parameters& p) {
       return where_negative(call, x,
                             call.g.mul(call.g.unary(Op::Expm1, x), number(call, x, p[0])));
     }},
    {"ThresholdedRelu",
     1,
     {1},
     [](Call& call, Value x, const Parameters& p) {
       Value above = call.g.binary(Op::Less, number(call, x, p[0]), x);
       return call.g.apply(Op::Where, {above, x, number(call, x, 0)});
     }},
    {"Clip",
     2,
     {-kMost, kMost},
     [](Call& call, Value x, const Parameters& p) { return clamped(call, x, p[0], p[1]); }},
};

}  // namespace

Value activated(Call& call, Value x, std::string_view name,
                std::span<const std::optional<double>> parameters) {
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    Parameters all = row.otherwise;
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (!parameters[i]) continue;
      if (i >= row.count) throw user_error("too many parameters of the activation '{}'", name);
      all[i] = *parameters[i];
    }
    return as(call, row.function(call, as(call, x, compute_dtype(x.dtype())), all), x.dtype());
  }
  throw unsupported_error("the activation '{}'", name.substr(0, 64));
}

Value activated_by_list(Call& call, Value x) {
  const std::string_view name = call.text("activation", "");
  const std::vector<double> given = call.numbers("activation_params");
  const std::vector<std::optional<double>> parameters(given.begin(), given.end());
  return name.empty() ? x : activated(call, x, name, parameters);
}

Value activated_by_letters(Call& call, Value x) {
  const std::string_view name = call.text("activation", "");
  std::vector<std::optional<double>> parameters;
  for (std::string_view letter : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    const bool given = call.find(letter) != nullptr;
    parameters.push_back(given ? std::optional(call.number(letter, 0)) : std::nullopt);
  }
  return name.empty() ? x : activated(call, x, name, parameters);
}

}  // namespace tenon::onnx
