// Type inference: the result types of an op from its operands and attributes, and what had to be
// assumed about symbolic extents. Each op has a rule (a function on Inference) in its row of
// ops.def; rules say errors with the op first and the operand types last.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/node.h"

namespace tenon::graph {

class Inference {
 public:
  Inference(Op op, std::span<const Value> operands, const Attributes& attributes)
      : op_(op), operands_(operands), attributes_(attributes) {}

  Op op() const { return op_; }
  int operand_count() const { return static_cast<int>(operands_.size()); }
  const Value& value(int i) const { return operands_[static_cast<size_t>(i)]; }
  const TensorType& operand(int i) const { return value(i).type(); }
  const Attributes& attributes() const { return attributes_; }
  void result(Shape shape, DType dtype) { results_.push_back({std::move(shape), dtype}); }

  // Two extents that must be the same: provably different is an error, undecided a constraint.
  // Gives the simpler one.
  Dim same(const Dim& a, const Dim& b, std::string_view what);
  // left <= right, as above.
  void at_most(const Dim& left, const Dim& right, std::string_view what);
  // Extents that meet in an elementwise op, NumPy's rule. Which of two symbols is 1 may be decided
  // at run time.
  Dim broadcast(const Dim& a, const Dim& b);
  Shape broadcast(std::span<const Dim> a, std::span<const Dim> b);
  // `from` spread to `to`, one way: each extent is 1 or the target's.
  void spread(std::span<const Dim> from, std::span<const Dim> to, std::string_view what);
  // A shape given by the caller, whose constant extents must not be negative.
  void check_extents(std::span<const Dim> extents);

  // "[matmul] inner extents differ: f32[4, 8] x f32[9, 2]"
  Error fail(std::string_view what) const;
  Error unsupported(std::string_view what) const;

  const std::vector<TensorType>& results() const { return results_; }
  const std::vector<Constraint>& constraints() const { return constraints_; }

 private:
  std::string label() const;  // "matmul"; of a custom function its name too
  std::string describe(std::string_view what) const;
  void constrain(Constraint::Kind kind, const Dim& left, const Dim& right, std::string_view what);

  Op op_;
  std::span<const Value> operands_;
  const Attributes& attributes_;
  std::vector<TensorType> results_;
  std::vector<Constraint> constraints_;
};

// Runs the op's rule. The operands exist and the attributes are canonical (attribute_schema.h).
// Leaves have no rule.
void infer(Inference& inference);

namespace rules {
#define OP(Name, rule, ...) void rule(Inference& op);
#include "graph/ops.def"
}  // namespace rules

}  // namespace tenon::graph
