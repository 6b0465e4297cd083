// Rows of movement: the same elements elsewhere.
#include <algorithm>
#include <numeric>

#include "tests/differential/rows/operands.h"

namespace tenon::differential {

using graph::Graph;
using graph::Op;
using graph::Value;

namespace {

Value reshaped(GraphWriter& w) {
  const Value x = w.any(any_kind);
  if (!x) return x;
  std::vector<Dim> dims = x.shape().dims();
  const int64_t kind = w.number(0, 3);
  if (kind == 0 || dims.size() < 2) {
    dims.insert(dims.begin() + w.number(0, std::ssize(dims)), 1);
  } else if (kind == 1) {
    const auto at = w.number(0, std::ssize(dims) - 2);
    dims[static_cast<size_t>(at)] =
        dims[static_cast<size_t>(at)] * dims[static_cast<size_t>(at) + 1];
    dims.erase(dims.begin() + at + 1);
  } else if (kind == 2) {
    return w.g().reshape(x, {x.shape().elements()});
  } else {
    std::swap(dims.front(), dims.back());
  }
  return w.g().reshape(x, std::move(dims));
}

Value transposed(GraphWriter& w) {
  const Value x =
      w.chance(15) ? w.input(w.any_dtype(), {w.wide_extent(), w.wide_extent()}) : w.any(any_kind);
  if (!x || x.shape().rank() < 2) return {};
  Axes perm(x.shape().dims().size());
  std::iota(perm.begin(), perm.end(), 0);
  for (size_t i = perm.size(); i-- > 1;) {
    std::swap(perm[i], perm[static_cast<size_t>(w.number(0, static_cast<int64_t>(i)))]);
  }
  return w.g().transpose(x, std::move(perm));
}

Value expanded(GraphWriter& w) {
  const Value x = w.any(any_kind);
  if (!x) return x;
  std::vector<Dim> dims = x.shape().dims();
  for (Dim& dim : dims) {
    if (dim.is_const(1)) dim = w.any_extent();
  }
  if (w.chance(40)) dims.insert(dims.begin(), w.any_extent());
  return w.g().expand(x, std::move(dims));
}

Value sliced(GraphWriter& w) {
  const Value x = w.any(any_kind);
  if (!x || x.shape().rank() == 0) return {};
  std::vector<Dim> starts, extents;
  Axes steps;
  for (const Dim& dim : x.shape()) {
    const int64_t kind = w.number(0, 3), step = w.number(1, 3);
    if (kind == 0) {
      starts.emplace_back(0), extents.push_back(dim), steps.push_back(1);
    } else if (kind == 1) {  // backwards
      starts.push_back(dim - 1), extents.push_back(dim), steps.push_back(-1);
    } else if (kind == 2) {
      starts.emplace_back(0), extents.push_back(ceildiv(dim, step)), steps.push_back(step);
    } else {  // the second half
      const Dim half = floordiv(dim, 2);
      starts.push_back(half), extents.push_back(dim - half), steps.push_back(1);
    }
  }
  return w.g().slice(x, std::move(starts), std::move(extents), std::move(steps));
}

Value concatenated(GraphWriter& w) {
  const Value x = w.any(any_kind);
  if (!x || x.shape().rank() == 0) return {};
  const int64_t axis = any_axis(w, x);
  std::vector<Dim> dims = x.shape().dims();
  dims[static_cast<size_t>(axis)] = w.any_extent();
  std::vector<Value> parts{x, w.input(x.dtype(), std::move(dims))};
  if (w.chance(30)) parts.push_back(x);
  return w.g().concat(std::move(parts), axis);
}

Value split_of(GraphWriter& w) {
  const Value x = w.any(any_kind);
  if (!x || x.shape().rank() == 0) return {};
  const int64_t axis = any_axis(w, x);
  const Dim whole_axis = x.shape()[static_cast<int>(axis)], half = floordiv(whole_axis, 2);
  return w.g().split(x, axis, {half, whole_axis - half})[w.chance(50) ? 0 : 1];
}

Value padded(GraphWriter& w) {
  const Value x = w.any(computed);
  const int rank = x ? x.shape().rank() : 0;
  if (rank == 0) return {};
  Axes pads, axes;
  for (int64_t i = 0; i < 2 * rank; ++i) pads.push_back(w.chance(10) ? -1 : w.number(0, 2));
  for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  std::vector<Dim> dims = x.shape().dims();
  for (size_t i = 0; i < dims.size(); ++i) {
    dims[i] = dims[i] + pads[i] + pads[i + static_cast<size_t>(rank)];
  }
  const auto mode = pad_mode(w, x);
  std::vector<Value> operands{x, w.g().integers(pads), w.g().integers(axes)};
  if (mode == "constant" && w.chance(40)) operands.push_back(w.input(x.dtype(), {}));
  return w.g().apply(Op::Pad, std::move(operands), {{"mode", mode}, {"shape", std::move(dims)}});
}

constexpr OpRow kRows[] = {
    {"reshape", 6, reshaped, true},    {"transpose", 6, transposed, true},
    {"expand", 4, expanded, true},     {"slice", 6, sliced, true},
    {"concat", 4, concatenated, true}, {"split", 3, split_of, true},
    {"pad", 4, padded, true},
};

}  // namespace

std::span<const OpRow> movement_rows() { return kRows; }

}  // namespace tenon::differential
