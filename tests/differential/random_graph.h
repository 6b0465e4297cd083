// Random graphs: ops of mixed dtypes and ranks 0 to 6, with broadcasts, movement, reductions,
// contractions and symbolic extents. Each node is interpreted as it is written, so that what would
// overflow, grow too large or has no meaning is left out. What rounding could tip over (a
// comparison of computed floats) is not written either.
#pragma once

#include <random>

#include "tools/replay/case.h"

namespace tenon::differential {

class GraphWriter {
 public:
  // `supported` says whether the backend takes a graph of this one output.
  using Supported = std::function<bool(const graph::Graph&)>;
  GraphWriter(uint64_t seed, Supported supported);

  // The graph, its outputs all that no other node uses; the extents it was written with.
  replay::Case write(int ops);
  // Other extents for the same graph.
  replay::Case again(const replay::Case& given);

  // For the rows of the table of ops (random_ops.cpp).
  graph::Graph& g() { return case_.graph; }
  int64_t number(int64_t least, int64_t most);  // both included
  bool chance(int percent) { return number(1, 100) <= percent; }
  template <typename T>
  const T& one_of(const std::vector<T>& list) {
    return list[static_cast<size_t>(number(0, static_cast<int64_t>(list.size()) - 1))];
  }
  DType any_dtype();
  Dim any_extent();
  graph::Value input(DType dtype, std::vector<Dim> dims);
  // A value written before, or a new input. Exact: the same bits on every device.
  graph::Value any(const std::function<bool(DType)>& wanted, bool exact = false);
  // Another operand of an elementwise op: some axes 1, some leading ones gone.
  graph::Value beside(graph::Value x, bool exact = false);
  const graph::Tensor& tensor(graph::Value value);
  bool is_exact(graph::Value value);

 private:
  void keep(graph::Value value);
  bool is_tame(graph::Value value);

  std::mt19937_64 random_;
  Supported supported_;
  replay::Case case_;
  std::vector<graph::Value> values_;
  std::vector<graph::Graph> discarded_;  // keep nodes alive that the maps below know
  std::unordered_map<graph::Value, graph::Tensor> tensors_;
  std::unordered_map<const graph::Node*, bool> exact_;
};

// A row of the table: writes one op (or a few), null where nothing fits.
struct OpRow {
  const char* name;
  int weight;
  graph::Value (*write)(GraphWriter&);
};
std::span<const OpRow> op_rows();

}  // namespace tenon::differential
