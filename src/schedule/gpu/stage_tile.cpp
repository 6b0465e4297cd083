// See stage_tile.h.
#include "schedule/gpu/stage_tile.h"

#include <algorithm>

#include "base/error.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

// The load that a value is, or is a cast of; null: it is computed.
const Expr* load_of(const ExprRef& value) {
  const Expr& e = value->op == Op::Cast ? *value->args[0] : *value;
  return e.op == Op::Load ? &e : nullptr;
}

}  // namespace

TileStager::Staged TileStager::stage(const char* name, const Operand& operand, const Dim& first,
                                     const Dim& step, const Symbol& in_outer, const Symbol& in_k) {
  const Expr& value = *operand.value;
  const Expr* source = load_of(operand.value);  // moved as it is, or converted on the way
  const bool along_k = source && source->index.coefficient(operand.k) == Dim(1);
  const bool along_outer = source && source->index.coefficient(operand.outer) == Dim(1);
  const int64_t depth = shape_.depth, bytes = size_of(value.dtype);
  // Tensor cores read either way; fma reads neighbouring rows or columns of one k.
  const bool k_inner = tensor_ && along_k;
  const int64_t pad = std::max<int64_t>(16 / bytes, 1);
  const int64_t stride = (k_inner ? depth : operand.size) + pad;
  const int buffer =
      kernel_.add_buffer({.name = fresh_(name, 1).name(),
                          .dtype = value.dtype,
                          .elements = (k_inner ? operand.size : depth) * stride,
                          .storage = Storage::Shared,
                          .depth = shape_.stages,
                          .async = value.op == Op::Load && (k_inner || along_outer)});
  const auto place = [&](const Dim& o, const Dim& k) {
    return k_inner ? o * stride + k : k * stride + o;
  };

  int64_t lanes = along_k || along_outer ? 16 / std::max(bytes, size_of(source->dtype)) : 1;
  const int64_t elements = operand.size * depth;
  while (lanes > 1 && elements % (shape_.threads * lanes) != 0) lanes /= 2;
  const int64_t pieces = elements / (shape_.threads * lanes);
  TENON_CHECK(pieces * shape_.threads * lanes == elements, "a tile of {} elements", elements);
  const Symbol u = fresh_("u", pieces), l = fresh_("l", lanes);
  const Dim piece = Dim(u) * shape_.threads + t_;
  Dim o, k;
  if (along_k) {
    o = floordiv(piece, depth / lanes), k = mod(piece, depth / lanes) * lanes;
  } else {
    k = floordiv(piece, operand.size / lanes), o = mod(piece, operand.size / lanes) * lanes;
  }
  // What is outside of the operand is 0. Where lanes are in or out together, the first one tells.
  std::vector<Guard> guards;
  const auto guard = [&](const Dim& at, const Dim& bound, bool is_lane, int64_t tile) {
    if (mod(bound, tile).is_const(0)) return;
    const bool together = !is_lane || mod(bound, lanes).is_const(0);
    guards.push_back({together ? at : at + l, bound});
  };
  guard(first + o, operand.extent, !along_k, operand.size);
  guard(step * depth + k, operand.depth, along_k, depth);
  const Dim lane_o = along_k ? o : o + l, lane_k = along_k ? k + l : k;
  ExprRef element =
      substitute(operand.value,
                 each_by({{operand.outer, first + lane_o}, {operand.k, step * depth + lane_k}}));
  element = transform(element, [&](Expr& copy) -> ExprRef {
    if (copy.op == Op::Load) copy.guards.insert(copy.guards.end(), guards.begin(), guards.end());
    return nullptr;
  });
  if (!source) {
    for (const Guard& g : guards)
      element = select(in_range(g.index, g.bound), element, constant(element->dtype, 0));
  }
  Block body = {store(buffer, place(lane_o, lane_k), element)};
  if (lanes > 1) {
    body = {loop(LoopKind::Vector, l, lanes, std::move(body))};
  } else {
    body = {substitute(body[0], each_by({{l, 0}}))};
  }
  return {{loop(LoopKind::Unroll, u, pieces, std::move(body))},
          load(buffer, value.dtype, place(in_outer, in_k))};
}

}  // namespace tenon::schedule
