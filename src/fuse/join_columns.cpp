// See join_columns.h.
#include "fuse/join_columns.h"

#include <algorithm>

namespace tenon::fuse {
namespace {

using graph::Op;
using graph::Value;

using Parts = std::vector<Value>;

const Dim& columns(Value value) { return value.shape()[value.shape().rank() - 1]; }

Parts operands(const Parts& parts, int i) {
  Parts result;
  for (Value part : parts) result.push_back(part.node->operand(i));
  return result;
}

bool same_dtype(const Parts& parts) {
  return std::ranges::all_of(parts, [&](Value v) { return v.dtype() == parts[0].dtype(); });
}

// Whether every part is made by the same op, which goes column by column.
bool made_alike(const Parts& parts) {
  const Op op = parts[0].op();
  if (op != Op::Cast && op != Op::Sub && op != Op::Mul && op != Op::Reshape) return false;
  return std::ranges::all_of(parts, [&](Value part) {
    const Value from = part.op() == op ? part.node->operand(0) : Value{};
    if (!from || part.shape().rank() != parts[0].shape().rank()) return false;
    return op != Op::Reshape || (from.shape().rank() > 0 && columns(from) == columns(part));
  });
}

std::vector<Dim> aligned(Value operand, int rank) {
  std::vector<Dim> dims(static_cast<size_t>(rank), Dim(1));
  const std::vector<Dim>& own = operand.shape().dims();
  std::ranges::copy(own, dims.end() - static_cast<ptrdiff_t>(own.size()));
  return dims;
}

// One operand of all parts: as it is where they share one that has no columns of its own; else with
// as many columns as the part, and as many rows as any of them.
Value join_operands(graph::Graph& g, const Parts& parts, int i) {
  Parts of = operands(parts, i);
  const bool shared = std::ranges::all_of(of, [&](Value v) { return v == of[0]; });
  if (shared && (of[0].shape().rank() == 0 || columns(of[0]).is_const(1))) return of[0];
  const int rank = parts[0].shape().rank();
  std::vector<Dim> dims(static_cast<size_t>(rank), Dim(1));
  for (Value operand : of) {
    const std::vector<Dim> own = aligned(operand, rank);
    for (size_t axis = 0; axis < dims.size(); ++axis)
      if (dims[axis].is_const(1)) dims[axis] = own[axis];
  }
  for (size_t p = 0; p < of.size(); ++p) {
    dims.back() = columns(parts[p]);
    if (const std::vector<Dim> own = aligned(of[p], rank); own != of[p].shape().dims())
      of[p] = g.reshape(of[p], own);
    if (of[p].shape().dims() != dims) of[p] = g.expand(of[p], dims);
  }
  return join_columns(g, of);
}

}  // namespace

Value join_columns(graph::Graph& g, const Parts& parts) {
  const int last = parts[0].shape().rank() - 1;
  if (!made_alike(parts) || !same_dtype(operands(parts, 0))) return g.concat(parts, last);
  switch (parts[0].op()) {
    case Op::Cast:
      return g.cast(join_columns(g, operands(parts, 0)), parts[0].dtype());
    case Op::Reshape: {
      const Value joined = join_columns(g, operands(parts, 0));
      std::vector<Dim> dims = parts[0].shape().dims();
      dims.back() = columns(joined);
      return g.reshape(joined, std::move(dims));
    }
    default:
      return g.binary(parts[0].op(), join_operands(g, parts, 0), join_operands(g, parts, 1));
  }
}

}  // namespace tenon::fuse
