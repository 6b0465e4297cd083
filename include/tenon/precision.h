// Precision policies: what the values that a model declares as f32 are stored and multiplied as.
// Values of other dtypes, and the inputs and outputs of a model, stay what they are declared to be.
// Weights are converted once. docs/numerics.md says what each policy costs in accuracy.
#pragma once

#include <array>
#include <cstdint>

namespace tenon {

enum class PrecisionPolicy : uint8_t {
  AlwaysF32,
  AlwaysF16,              // stored as f16, computed in f32
  AlwaysBf16,             // stored as bf16, computed in f32
  AutoMixed,              // products of bf16, everything else f32
  AutoMixedConservative,  // the same, where one factor is a weight
  DynamicInt8,            // products of 8-bit integers, where one factor is a weight
  Custom,                 // as PrecisionOptions::custom says
};

enum class OpCategory : uint8_t {
  Weights,      // contractions with a weight
  Contraction,  // of data with data
  Attention,
  Norm,
  Softmax,
  Reduction,
  Elementwise,
};
inline constexpr int kOpCategories = 7;

// How a category treats numbers. An op of no category (a sort, a loop) has f32.
enum class Numbers : uint8_t {
  F32,
  F16,    // operands and results are f16; inside of a kernel they are f32
  Bf16,   // the same of bf16
  ByF16,  // contractions: the factors are rounded to f16, all else is f32
  ByBf16,
  ByInt8,  // contractions with weights: rows and columns of 8-bit integers with scales
};
using NumbersOfCategories = std::array<Numbers, kOpCategories>;

struct PrecisionOptions {
  PrecisionPolicy policy = PrecisionPolicy::AlwaysF32;
  NumbersOfCategories custom = {};  // of Custom, not all F32; with another policy an Error
  bool operator==(const PrecisionOptions&) const = default;
};

}  // namespace tenon
