// What the rows of the table of ops share: which dtypes they take, axes and indices.
#pragma once

#include <vector>

#include "tests/differential/random_graph.h"

namespace tenon::differential {

using Ops = std::vector<graph::Op>;
using Axes = std::vector<int64_t>;
using Words = std::vector<std::string>;

inline bool any_kind(DType) { return true; }
inline bool computed(DType dtype) { return !is_storage_only(dtype); }
inline bool no_bool(DType dtype) { return computed(dtype) && dtype != DType::Bool; }
inline bool real(DType dtype) { return computed(dtype) && is_float(dtype); }
inline bool whole(DType dtype) { return computed(dtype) && is_integer(dtype); }
inline bool truth(DType dtype) { return dtype == DType::Bool; }
inline bool single(DType dtype) { return dtype == DType::F32; }
inline bool is_signed(DType dtype) {
  return computed(dtype) && (is_float(dtype) || info(dtype).kind == DTypeKind::Signed);
}

inline int64_t any_axis(GraphWriter& w, graph::Value x) {
  return w.number(0, x.shape().rank() - 1);
}
inline graph::Value magnitude(GraphWriter& w, graph::Value x) {
  return w.g().unary(graph::Op::Abs, x);
}
inline graph::Value plus(GraphWriter& w, graph::Value x, double by) {
  return w.g().add(x, w.g().scalar(x.dtype(), by));
}
// Small, so that what is summed up stays so.
inline graph::Value bounded(GraphWriter& w, graph::Value x) {
  return w.g().unary(graph::Op::Tanh, x);
}

// Integers in least .. most, of any shape whose extents are given.
graph::Value integers_between(GraphWriter& w, std::vector<Dim> dims, const Dim& least,
                              const Dim& most, DType dtype = DType::I64);
// An index for each place of `dims`, inside an axis of this extent.
graph::Value indices(GraphWriter& w, std::vector<Dim> dims, const Dim& extent);
// An integer that the model is given: known when it runs, not before.
graph::Value run_time_integer(GraphWriter& w, int64_t least, int64_t most);
graph::Value run_time_vector(GraphWriter& w, const std::vector<Dim>& values);

// An empty axis has nothing to repeat: whether that is an error depends on the margins.
std::string pad_mode(GraphWriter& w, graph::Value x);

// The families of rows, a file each.
std::span<const OpRow> elementwise_rows();
std::span<const OpRow> movement_rows();
std::span<const OpRow> by_data_rows();
std::span<const OpRow> index_rows();
std::span<const OpRow> search_rows();
std::span<const OpRow> reduction_rows();
std::span<const OpRow> contraction_rows();
std::span<const OpRow> pattern_rows();
std::span<const OpRow> window_rows();
std::span<const OpRow> image_rows();
std::span<const OpRow> sequence_rows();
std::span<const OpRow> control_rows();

}  // namespace tenon::differential
