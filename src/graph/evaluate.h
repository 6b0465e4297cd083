// Evaluation of one node on concrete operands: what the table of the interpreter is made of.
// Tensors are decoded to doubles (floats) or 64-bit integers (everything else), computed on, and
// rounded once to the result's dtype.
#pragma once

#include <span>
#include <vector>

#include "graph/interpret.h"

namespace tenon::graph {

using Extents = std::vector<int64_t>;

struct Evaluation {
  const Node& node;
  std::span<const Tensor* const> operands;
  const SymbolValues& values;

  const Tensor& operand(int i) const { return *operands[static_cast<size_t>(i)]; }
  const Attributes& attributes() const { return node.attributes(); }
  DType dtype(int result = 0) const { return node.types()[static_cast<size_t>(result)].dtype; }
  int64_t value_of(const Dim& dim) const;  // User error where a symbol has no value
  Extents values_of(std::span<const Dim> dims) const;
};

int64_t element_count(std::span<const int64_t> extents);  // User error beyond 2^48
Extents row_major_strides(std::span<const int64_t> extents);
Tensor make_tensor(DType dtype, Extents shape);

std::vector<double> to_doubles(const Tensor& tensor);
std::vector<int64_t> to_integers(const Tensor& tensor);
Tensor from_doubles(DType dtype, Extents shape, std::span<const double> values);
Tensor from_integers(DType dtype, Extents shape, std::span<const int64_t> values);

// The offset of each element, in row-major order of `extents`, in a buffer with these strides.
std::vector<int64_t> offsets(std::span<const int64_t> extents, std::span<const int64_t> strides,
                             int64_t start = 0);
// Offsets into a tensor of shape `from` read as if it had the shape `to` (stride 0 where it is
// spread).
std::vector<int64_t> spread_offsets(std::span<const int64_t> from, std::span<const int64_t> to);
// The common shape of two; User error where they do not broadcast.
Extents broadcast_extents(Op op, std::span<const int64_t> a, std::span<const int64_t> b);
// The elements of `source` at these offsets.
Tensor pick(const Tensor& source, Extents shape, std::span<const int64_t> at);

namespace evaluators {
using Results = std::vector<Tensor>;
#define OP(Name, rule, evaluator, ...) Results evaluator(const Evaluation& e);
#include "graph/ops.def"
double activate(Op op, double x);  // a float unary op on one element
}  // namespace evaluators

}  // namespace tenon::graph
