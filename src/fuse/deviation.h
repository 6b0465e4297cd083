// What the norms share: x / sqrt(mean(x * x) + epsilon) * scale along the last axis, with factors
// grouped and operands ordered in any way. A pattern starts at the square root and follows its
// users while the value on the way is a product of 1 / sqrt, x and scale.
#pragma once

#include <functional>
#include <optional>

#include "fuse/match.h"

namespace tenon::fuse {

// sqrt(mean(x * x) + epsilon)
struct Deviation {
  const graph::Node* root;  // the square root
  graph::Value x;
  double epsilon;
  Dim columns;
};
std::optional<Deviation> deviation(const graph::Node& node);

graph::Value mean_of(graph::Value value);  // what the value is the mean of, along the last axis

// (1 / sqrt, or sqrt before it is inverted) [* x] [* scale]
struct Normalized {
  graph::Value value;
  bool inverted = false;
  bool has_x = false;
  graph::Value scale = {};
  bool complete() const { return inverted && has_x && scale; }
};

// Calls `visit(state, user)` for each user of each value that can be reached from the root.
void follow(const Deviation& deviation, const graph::UseLists& uses,
            const std::function<void(const Normalized& state, const graph::Node& user)>& visit);
// Takes the state to the result of a user; false where the form is left.
bool advance(Normalized& state, const graph::Node& user, const Deviation& deviation);

}  // namespace tenon::fuse
