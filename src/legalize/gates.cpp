// See gates.h.
#include "legalize/gates.h"

#include <algorithm>

#include "base/error.h"

namespace tenon::legalize::decompositions {

using graph::Op;

namespace {

struct Function {
  std::string_view name;
  Term (*apply)(const Term& x, double a, double b);
};

Term below_zero(const Term& x, const Term& other) { return choose(less(x, 0), other, x); }

constexpr Function kFunctions[] = {
    {"relu", [](const Term& x, double, double) { return x.unary(Op::Relu); }},
    {"tanh", [](const Term& x, double, double) { return x.unary(Op::Tanh); }},
    {"sigmoid", [](const Term& x, double, double) { return x.unary(Op::Sigmoid); }},
    {"affine", [](const Term& x, double a, double b) { return x * a + b; }},
    {"leakyrelu", [](const Term& x, double a, double) { return below_zero(x, x * a); }},
    {"thresholdedrelu",
     [](const Term& x, double a, double) {
       return choose(at_most(Term(x.g(), x.g().scalar(x.dtype(), a)), x), x, 0);
     }},
    {"scaledtanh", [](const Term& x, double a, double b) { return (x * b).unary(Op::Tanh) * a; }},
    {"hardsigmoid", [](const Term& x, double a, double b) { return clamped(x * a + b, 0, 1); }},
    {"elu", [](const Term& x, double a, double) { return below_zero(x, x.unary(Op::Expm1) * a); }},
    {"softsign", [](const Term& x, double, double) { return x / (x.unary(Op::Abs) + 1); }},
    {"softplus", [](const Term& x, double, double) { return x.unary(Op::Softplus); }},
};

}  // namespace

Gates::Gates(const graph::Attributes& attributes, int64_t direction, int64_t directions)
    : clip_(attributes.number("clip", 0)) {
  std::string_view names = attributes.text("activations");
  const auto count = static_cast<int64_t>(attributes.numbers("alpha").size()) / directions;
  for (int64_t i = 0; !names.empty(); ++i) {
    const size_t end = std::min(names.find(','), names.size());
    const auto at = static_cast<size_t>(i);
    if (i / count == direction) {
      gates_.push_back({std::string(names.substr(0, end)), attributes.numbers("alpha")[at],
                        attributes.numbers("beta")[at]});
    }
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

Term Gates::apply(size_t function, const Term& x) const {
  const Gate& gate = gates_.at(function);
  const auto* found = std::ranges::find(kFunctions, gate.name, &Function::name);
  TENON_CHECK(found != std::end(kFunctions), "the gate activation {} has no ops", gate.name);
  return found->apply(clip_ > 0 ? clamped(x, -clip_, clip_) : x, gate.alpha, gate.beta);
}

}  // namespace tenon::legalize::decompositions
