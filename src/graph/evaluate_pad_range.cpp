// Evaluation of pad and range.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/indexing.h"

namespace tenon::graph::evaluators {

namespace {

constexpr int64_t kOutside = -1;

int64_t modulo(int64_t a, int64_t b) { return ((a % b) + b) % b; }

// Which element of an axis lies at `at`, a position that may be outside.
int64_t source_of(int64_t at, int64_t extent, std::string_view mode) {
  if (at >= 0 && at < extent) return at;
  if (mode == "constant") return kOutside;
  if (extent == 0) throw user_error("[pad] an empty axis has nothing to repeat");
  if (mode == "edge") return std::clamp<int64_t>(at, 0, extent - 1);
  if (mode == "wrap") return modulo(at, extent);
  if (extent == 1) return 0;
  const int64_t place = modulo(at, 2 * (extent - 1));  // reflect: there and back again
  return place < extent ? place : 2 * (extent - 1) - place;
}

struct Margins {
  Extents before, after;  // of every axis
};

Margins margins_of(const Evaluation& e) {
  const size_t rank = e.operand(0).shape.size();
  const Extents pads = to_integers(e.operand(1));
  const Extents axes = axes_from(e, 2, static_cast<int64_t>(rank));
  if (pads.size() != axes.size() * 2) {
    throw user_error("[pad] {} axes need {} numbers, not {}", axes.size(), axes.size() * 2,
                     pads.size());
  }
  constexpr int64_t kLimit = int64_t{1} << 48;
  for (const int64_t pad : pads) {
    if (pad < -kLimit || pad > kLimit) throw user_error("[pad] {} is too far", pad);
  }
  Margins margins{Extents(rank, 0), Extents(rank, 0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    margins.before[static_cast<size_t>(axes[i])] = pads[i];
    margins.after[static_cast<size_t>(axes[i])] = pads[axes.size() + i];
  }
  return margins;
}

// The count of start, start + delta, ... before limit.
int64_t range_count(int64_t start, int64_t limit, int64_t delta) {
  const bool up = delta > 0;
  if (up ? limit <= start : limit >= start) return 0;
  const uint64_t low = static_cast<uint64_t>(up ? start : limit);
  const uint64_t high = static_cast<uint64_t>(up ? limit : start);
  const uint64_t step = up ? static_cast<uint64_t>(delta) : 0 - static_cast<uint64_t>(delta);
  const uint64_t count = (high - low - 1) / step + 1;
  return count >> 62 ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(count);
}

int64_t range_count(double start, double limit, double delta) {
  const double count = std::ceil((limit - start) / delta);
  if (!(count > 0)) return 0;  // NaN too
  return count < 0x1p62 ? static_cast<int64_t>(count) : std::numeric_limits<int64_t>::max();
}

}  // namespace

Results pad(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const std::string& mode = e.attributes().text("mode");
  const auto [before, after] = margins_of(e);
  Extents shape = x.shape;
  for (size_t i = 0; i < shape.size(); ++i) shape[i] += before[i] + after[i];
  Tensor result = make_tensor(x.dtype, shape);
  std::vector<std::byte> fill(static_cast<size_t>(size_of(x.dtype)));
  if (e.operands.size() > 3) {
    integer_from(e, 3, "the constant");
    fill = e.operand(3).bytes;
  }
  const Extents strides = row_major_strides(x.shape);
  Extents at(shape.size(), 0);
  for (size_t to = 0; to < result.bytes.size(); to += fill.size()) {
    int64_t from = 0;
    for (size_t axis = 0; axis < at.size() && from != kOutside; ++axis) {
      const int64_t source = source_of(at[axis] - before[axis], x.shape[axis], mode);
      from = source == kOutside ? kOutside : from + source * strides[axis];
    }
    const std::byte* element =
        from == kOutside ? fill.data() : x.bytes.data() + from * size_of(x.dtype);
    std::copy_n(element, fill.size(), result.bytes.data() + to);
    for (size_t axis = at.size(); axis-- > 0 && ++at[axis] == shape[axis];) at[axis] = 0;
  }
  return {std::move(result)};
}

Results range(const Evaluation& e) {
  if (is_float(e.dtype())) {
    const double start = to_doubles(e.operand(0))[0], limit = to_doubles(e.operand(1))[0];
    const double delta = to_doubles(e.operand(2))[0];
    if (delta == 0) throw user_error("[range] delta is 0");
    const int64_t count = range_count(start, limit, delta);
    Tensor result = make_tensor(e.dtype(), {count});
    for (int64_t i = 0; i < count; ++i) {
      store_from_f64(e.dtype(), result.bytes.data() + i * size_of(e.dtype()),
                     start + static_cast<double>(i) * delta);
    }
    return {std::move(result)};
  }
  const int64_t start = integer_from(e, 0, "start"), limit = integer_from(e, 1, "limit");
  const int64_t delta = integer_from(e, 2, "delta");
  if (delta == 0) throw user_error("[range] delta is 0");
  const int64_t count = range_count(start, limit, delta);
  Tensor result = make_tensor(e.dtype(), {count});
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t steps = static_cast<uint64_t>(i) * static_cast<uint64_t>(delta);  // may wrap
    store_from_i64(e.dtype(), result.bytes.data() + i * size_of(e.dtype()),
                   static_cast<int64_t>(static_cast<uint64_t>(start) + steps));
  }
  return {std::move(result)};
}

}  // namespace tenon::graph::evaluators
