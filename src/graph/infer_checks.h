// What the rules of image and signal ops check about attributes and operands, with the errors that
// a wrong one earns.
#pragma once

#include <initializer_list>
#include <string_view>

#include "graph/infer.h"

namespace tenon::graph {

// Strides, dilations, kernels, groups: small enough that a position in an image cannot overflow.
inline constexpr Bounds kSteps{1, int64_t{1} << 24};
inline constexpr Bounds kFlag{0, 1};

void check_numbers(const Inference& op, std::string_view name, size_t count, Bounds allowed);
int64_t checked_integer(const Inference& op, std::string_view name, Bounds allowed);
void check_text(const Inference& op, std::string_view name,
                std::initializer_list<std::string_view> allowed);
void check_float(const Inference& op, int operand);
void check_dtypes(const Inference& op, int count);  // the first `count` operands have one dtype
void check_integer_operand(const Inference& op, int operand, int rank);
Shape shape_attribute(Inference& op, int rank);  // "shape", of this rank
size_t spatial_rank(const Inference& op);        // of operand 0, [batch, channels, ...]

}  // namespace tenon::graph
