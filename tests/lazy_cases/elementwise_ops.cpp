// Elementwise functions and operators.
#include "tests/lazy_cases/ops.h"

namespace tenon::cases {
namespace {

using A = const Arguments &;
using R = Results;

#define METHOD(name) {#name, [](A a) -> R { return a.x.name(); }}
// Of two tensors, of a tensor and a number, of a number and a tensor.
#define OPERATOR(name, op)                                            \
  {name, [](A a) -> R { return a.x op a.y; }},                        \
      {name "_integer", [](A a) -> R { return a.x op a.integer(); }}, \
      {"integer_" name, [](A a) -> R { return a.integer() op a.x; }}, \
      {name "_number", [](A a) -> R { return a.x op a.number(); }}, { \
    "number_" name, [](A a) -> R { return a.number() op a.x; }        \
  }
#define FUNCTION(name)                                                      \
  {#name, [](A a) -> R { return a.x.name(a.y); }},                          \
      {#name "_integer", [](A a) -> R { return a.x.name(a.integer()); }}, { \
    #name "_number", [](A a) -> R { return a.x.name(a.number()); }          \
  }

constexpr OpRow kOps[] = {
    METHOD(neg),
    METHOD(abs),
    METHOD(sign),
    METHOD(sqrt),
    METHOD(rsqrt),
    METHOD(reciprocal),
    METHOD(square),
    METHOD(exp),
    METHOD(exp2),
    METHOD(expm1),
    METHOD(log),
    METHOD(log2),
    METHOD(log1p),
    METHOD(sin),
    METHOD(cos),
    METHOD(tan),
    METHOD(asin),
    METHOD(acos),
    METHOD(atan),
    METHOD(sinh),
    METHOD(cosh),
    METHOD(tanh),
    METHOD(asinh),
    METHOD(acosh),
    METHOD(atanh),
    METHOD(erf),
    METHOD(floor),
    METHOD(ceil),
    METHOD(round),
    METHOD(trunc),
    METHOD(relu),
    METHOD(gelu),
    METHOD(gelu_tanh),
    METHOD(silu),
    METHOD(sigmoid),
    METHOD(softplus),
    METHOD(is_nan),
    METHOD(is_inf),
    METHOD(logical_not),
    {"minus", [](A a) -> R { return -a.x; }},
    {"not", [](A a) -> R { return ~a.x; }},
    {"leaky_relu", [](A a) -> R { return a.x.leaky_relu(a.number()); }},
    {"elu", [](A a) -> R { return a.x.elu(a.number()); }},
    {"clamp", [](A a) -> R { return a.x.clamp(a.number(0), a.number(1)); }},
    {"clamp_integer", [](A a) -> R { return a.x.clamp(a.integer(0), a.integer(1)); }},
    {"clamp_low", [](A a) -> R { return a.x.clamp(a.number(), {}); }},
    {"clamp_high", [](A a) -> R { return a.x.clamp({}, a.number()); }},
    {"cast", [](A a) -> R { return a.x.cast(a.dtype()); }},
    {"bit_cast", [](A a) -> R { return a.x.bit_cast(a.dtype()); }},
    {"where", [](A a) -> R { return Tensor::where(a.x, a.y, a.z); }},
    {"where_integer", [](A a) -> R { return Tensor::where(a.x, a.y, a.integer()); }},
    {"integer_where", [](A a) -> R { return Tensor::where(a.x, a.integer(), a.y); }},
    {"where_number", [](A a) -> R { return Tensor::where(a.x, a.y, a.number()); }},
    {"number_where", [](A a) -> R { return Tensor::where(a.x, a.number(), a.y); }},
    FUNCTION(pow),
    FUNCTION(minimum),
    FUNCTION(maximum),
    FUNCTION(floor_divide),
    FUNCTION(mod),
    OPERATOR("add", +),
    OPERATOR("subtract", -),
    OPERATOR("multiply", *),
    OPERATOR("divide", /),
    OPERATOR("modulo", %),
    OPERATOR("equal", ==),
    OPERATOR("not_equal", !=),
    OPERATOR("less", <),
    OPERATOR("less_equal", <=),
    OPERATOR("greater", >),
    OPERATOR("greater_equal", >=),
    OPERATOR("and", &),
    OPERATOR("or", |),
    OPERATOR("xor", ^),
    OPERATOR("shift_left", <<),
    OPERATOR("shift_right", >>),
    // What a user writes in one line.
    {"quadratic", [](A a) -> R { return a.x * a.x * 0.5 - 3.0 * a.x + 1; }},
    {"normalize",
     [](A a) -> R { return (a.x - a.x.mean({-1}, true)) / (a.x.std({-1}, true) + 1e-3); }},
    {"outer_difference", [](A a) -> R { return a.x.unsqueeze(1) - a.y.unsqueeze(0); }},
    {"select_positive", [](A a) -> R { return Tensor::where((a.x > 0) & (a.x < 1.5), a.x, -a.x); }},
};

}  // namespace

std::span<const OpRow> elementwise_ops() { return kOps; }

}  // namespace tenon::cases
