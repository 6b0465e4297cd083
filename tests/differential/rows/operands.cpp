// See operands.h; and the table of all rows.
#include "tests/differential/rows/operands.h"

#include <algorithm>

namespace tenon::differential {

using graph::Graph;
using graph::Op;
using graph::Value;

Value integers_between(GraphWriter& w, std::vector<Dim> dims, const Dim& least, const Dim& most,
                       DType dtype) {
  Graph& g = w.g();
  const Value raw = w.input(DType::I64, std::move(dims));
  const Value from_front = g.binary(Op::Max, raw, g.dims({least}, true));
  const Value inside = g.binary(Op::Min, from_front, g.dims({most}, true));
  return dtype == DType::I64 ? inside : g.cast(inside, dtype);
}

Value indices(GraphWriter& w, std::vector<Dim> dims, const Dim& extent) {
  const Dim least = w.chance(30) ? Dim(0) - extent : Dim(0);  // negative ones count from the end
  return integers_between(w, std::move(dims), least, extent - 1,
                          w.chance(20) ? DType::I32 : DType::I64);
}

Value run_time_integer(GraphWriter& w, int64_t least, int64_t most) {
  return integers_between(w, {}, least, most);
}

// The numbers are hidden behind an input that is 0: what is known of them is their count.
Value run_time_vector(GraphWriter& w, const std::vector<Dim>& values) {
  Graph& g = w.g();
  const Value zero =
      g.mul(w.input(DType::I64, {static_cast<int64_t>(values.size())}), g.scalar(DType::I64, 0));
  return g.add(g.dims(values), zero);
}

std::string pad_mode(GraphWriter& w, Value x) {
  const bool may_be_empty =
      std::ranges::any_of(x.shape(), [](const Dim& dim) { return dim.bounds().lo < 1; });
  if (may_be_empty) return "constant";
  return w.one_of(Words{"constant", "edge", "reflect", "wrap"});
}

std::span<const OpRow> op_rows() {
  static const std::vector<OpRow> kAll = [] {
    std::vector<OpRow> all;
    for (const auto& family : {elementwise_rows(), movement_rows(), by_data_rows(), index_rows(),
                               search_rows(), reduction_rows(), contraction_rows(), pattern_rows(),
                               window_rows(), image_rows(), sequence_rows(), control_rows()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return kAll;
}

}  // namespace tenon::differential
