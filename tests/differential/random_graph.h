// Random graphs: ops of mixed dtypes and ranks 0 to 6, with broadcasts, movement, reductions,
// contractions, windows, search, branches and loops; extents are constants, symbols, or found by a
// step when it runs. Each node is interpreted as it is written, so that what would overflow, grow
// too large or has no meaning is left out. What rounding could tip over (a comparison of computed
// floats) is not written either. Some graphs have NaN, infinities and extremes among their inputs,
// and then only ops that say what becomes of them.
#pragma once

#include <functional>
#include <random>

#include "tools/replay/case.h"
#include "tools/replay/exact.h"

namespace tenon::differential {

class GraphWriter {
 public:
  explicit GraphWriter(uint64_t seed);

  // The graph, its outputs all that no other node uses; the extents it was written with.
  replay::Case write(int ops);
  // Other extents for the same graph.
  replay::Case again(const replay::Case& given);

  // For the rows of the table of ops (rows/).
  graph::Graph& g() { return case_.graph; }
  bool special() const { return case_.special; }
  int64_t number(int64_t least, int64_t most);  // both included
  bool chance(int percent) { return number(1, 100) <= percent; }
  template <typename T>
  const T& one_of(const std::vector<T>& list) {
    return list[static_cast<size_t>(number(0, static_cast<int64_t>(list.size()) - 1))];
  }
  DType any_dtype();
  Dim any_extent();
  std::vector<Dim> any_extents(int64_t count);
  Dim wide_extent();                             // a constant that fills vectors, tiles or chunks
  Symbol fresh_symbol(const std::string& stem);  // for an extent that a step defines
  bool is_given(const Dim& extent) const;        // known before anything runs
  graph::Value input(DType dtype, std::vector<Dim> dims);  // User error where one is not
  // A parameter where the extents are constants, mostly; otherwise an input.
  graph::Value weight(DType dtype, std::vector<Dim> dims);
  // A value written before, or a new input. Exact: the same bits on every device.
  graph::Value any(const std::function<bool(DType)>& wanted, bool exact = false);
  // The same with so many axes: what is there is reshaped or replaced by an input.
  graph::Value any_of_rank(int rank, const std::function<bool(DType)>& wanted, bool exact = false);
  // Another operand of an elementwise op: some axes 1, some leading ones gone.
  graph::Value beside(graph::Value x, bool exact = false);
  const graph::Tensor& tensor(graph::Value value);
  bool is_exact(graph::Value value) { return is_exact_(value); }

 private:
  graph::Value named(graph::Value leaf);
  void note_symbols(const graph::Node& node, const std::vector<graph::Tensor>& results);
  bool is_fitting(graph::Value value);
  bool is_tame(graph::Value value);
  bool write_one();
  void keep(graph::Value value);

  std::mt19937_64 random_;
  replay::Case case_;
  std::map<std::string, int64_t> symbols_;  // with those that steps have defined
  std::vector<graph::Value> values_;
  std::vector<graph::Graph> discarded_;  // keep nodes alive that the maps below know
  std::unordered_map<graph::Value, graph::Tensor> tensors_;
  replay::Exactness is_exact_;
};

// A row of the table: writes one op (or a few), null where nothing fits.
struct OpRow {
  const char* name;
  int weight;
  graph::Value (*write)(GraphWriter&);
  bool special = false;  // whatever the inputs' elements are, the result is defined
};
std::span<const OpRow> op_rows();

}  // namespace tenon::differential
