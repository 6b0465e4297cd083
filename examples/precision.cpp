// Precision policies: one model, compiled by each of them, and what that costs in accuracy.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tenon/tenon.h"

namespace {

using tenon::Numbers;
using tenon::OpCategory;
using tenon::PrecisionPolicy;

constexpr int64_t kHidden = 64, kInner = 256, kRows = 8;

std::vector<float> numbers(size_t count, float scale) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = scale * std::sin(static_cast<float>(i * i % 997));
  return values;
}

tenon::HirModule feed_forward() {
  tenon::HirModule m;
  const auto weight = [&](const char* name, int64_t rows, int64_t columns) {
    const std::vector<float> values = numbers(static_cast<size_t>(rows * columns), 0.1F);
    return m.param(name, {{rows, columns}, tenon::DType::F32}, std::as_bytes(std::span(values)));
  };
  const tenon::HirValue x = m.input("x", {{tenon::sym::batch(), kHidden}, tenon::DType::F32});
  const tenon::HirValue y =
      m.swiglu(x,
               {weight("gate", kHidden, kInner), weight("up", kHidden, kInner),
                weight("down", kInner, kHidden)},
               {.residual = x});
  m.set_outputs({{"y", m.op1("softmax", {y}, {{"axis", int64_t{-1}}})}});
  return m;
}

// Numbers category by category. Only contractions round their factors (By...), and to 8 bits only
// where one is a weight.
tenon::PrecisionOptions custom() {
  tenon::PrecisionOptions options{.policy = PrecisionPolicy::Custom};
  const auto set = [&](OpCategory category, Numbers how) {
    options.custom[static_cast<size_t>(category)] = how;
  };
  set(OpCategory::Weights, Numbers::ByInt8);
  set(OpCategory::Contraction, Numbers::ByF16);
  set(OpCategory::Attention, Numbers::F16);
  set(OpCategory::Norm, Numbers::F32);
  set(OpCategory::Softmax, Numbers::F32);
  set(OpCategory::Reduction, Numbers::F32);
  set(OpCategory::Elementwise, Numbers::Bf16);
  return options;
}

std::vector<float> run(const tenon::PrecisionOptions& precision) {
  tenon::CompiledGraph compiled =
      tenon::Session().compile(feed_forward(), {.precision_policy = precision});
  const std::vector<float> x = numbers(kRows * kHidden, 1);
  return compiled.run({{"x", tenon::view(x, {kRows, kHidden})}})[0];
}

}  // namespace

int main() {
  const struct {
    const char* name;
    tenon::PrecisionOptions options;
    float most;  // error that docs/numerics.md lets one expect, with room
  } policies[] = {
      {"AlwaysF32", {.policy = PrecisionPolicy::AlwaysF32}, 0},
      {"AlwaysF16", {.policy = PrecisionPolicy::AlwaysF16}, 0.003F},
      {"AlwaysBf16", {.policy = PrecisionPolicy::AlwaysBf16}, 0.03F},
      {"AutoMixed", {.policy = PrecisionPolicy::AutoMixed}, 0.02F},
      {"AutoMixedConservative", {.policy = PrecisionPolicy::AutoMixedConservative}, 0.02F},
      {"DynamicInt8", {.policy = PrecisionPolicy::DynamicInt8}, 0.05F},
      {"Custom", custom(), 0.05F},
  };
  const std::vector<float> exact = run({});
  const float largest = *std::ranges::max_element(exact);
  bool fine = true;
  for (const auto& [name, options, most] : policies) {
    const std::vector<float> y = run(options);
    float error = 0;
    for (size_t i = 0; i < y.size(); ++i) error = std::max(error, std::abs(y[i] - exact[i]));
    error /= largest;
    fine = fine && error <= most;
    std::printf("%-22s error %.0e\n", name, error);
  }
  std::printf("errors are %s\n", fine ? "as documented" : "larger than documented");

  // A session's policy is that of every compile which says nothing else.
  const tenon::Session low = tenon::Session().with_policy(PrecisionPolicy::AlwaysBf16);
  const tenon::CompileOptions again{.precision_policy = tenon::PrecisionOptions{}};
  tenon::CompiledGraph full = low.compile(feed_forward(), again);
  const std::vector<float> x = numbers(kRows * kHidden, 1);
  std::printf("f32 in a session of bf16 gives %s\n",
              full.run({{"x", tenon::view(x, {kRows, kHidden})}})[0] == exact ? "the same bits"
                                                                              : "other bits");
  return 0;
}
