// Region: builds the values of one kernel. `at(value, index)` is the expression of one element: a
// load where the value is stored, else the producer's own expression at the mapped index.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fuse/fuse.h"
#include "kernel/kernel.h"
#include "lower/lower.h"

namespace tenon::lower {

using Index = std::vector<Dim>;

class Region {
 public:
  // That stores `result`.
  Region(graph::Value result, const fuse::Regions& regions, const Layout& layout,
         const TakenNames& taken);

  // Of the dtype that the value is computed in (kernel::computed_in).
  kernel::ExprRef at(graph::Value value, const Index& index);
  kernel::ExprRef compute(graph::Value value, const Index& index);  // though it is stored
  kernel::ExprRef load_stored(graph::Value value, const Index& index);
  kernel::ExprRef load_result(const Index& index);  // what was stored there before
  kernel::Stmt store_result(const Index& index, kernel::ExprRef value) {
    return store_value(result_, index, std::move(value));
  }
  kernel::Stmt store_value(graph::Value stored, const Index& index, kernel::ExprRef value);
  // From now on every element of the value is this one; null: as it is stored.
  void set_known(graph::Value value, const kernel::ExprRef& element) { known_ = {value, element}; }
  // `found` as a position on an axis of `data` that is as long as `extent`: negative ones count
  // from the end, one outside is a fault of the run.
  Dim position(const kernel::ExprRef& found, const Dim& extent, graph::Value data);
  // An integer that is below `extent` by construction, as a symbol.
  Dim known(const std::string& name, const kernel::ExprRef& value, const Dim& extent);

  // Locals of the kernel.
  int local_scalar(const std::string& name, DType dtype);
  int local_row(const std::string& name, DType dtype, const Dim& elements);
  Symbol range(std::string name, const Dim& extent) const;
  Symbol fresh(const std::string& stem, const Dim& extent);  // with a name of its own

  // Loops over every axis around what `body` makes for the index, after the lets it asked for; lets
  // stand outside the loops they do not depend on.
  using BodyOf = std::function<kernel::Block(const Index&)>;
  kernel::Block loops(const std::vector<Dim>& extents, const BodyOf& body,
                      kernel::LoopKind kind = kernel::LoopKind::Parallel);
  // Those over every axis of the result, in the order in which it lies in memory.
  kernel::Block result_loops(const BodyOf& body);
  bool is_channels_last(graph::Value value) const { return regions_.channels_last.contains(value); }
  // Lets made by expressions since the last call; they go before the statements that use them.
  kernel::Block take_lets();

  Lowered finish(std::string name, kernel::Block body);
  // What the kernel computes: the result, or what that is a narrower cast of.
  graph::Value root() const { return root_; }
  kernel::Kernel& kernel() { return kernel_; }

 private:
  // index_map.cpp, lookup.cpp: elements of ops that only move.
  kernel::ExprRef elementwise(const graph::Node& node, const Index& index);
  kernel::ExprRef concat(const graph::Node& node, const Index& index);
  kernel::ExprRef pad(const graph::Node& node, const Index& index);
  kernel::ExprRef positions(const graph::Node& node, const Index& index);
  kernel::ExprRef dims_leaf(const graph::Node& node, const Index& index);
  kernel::ExprRef gather(const graph::Node& node, const Index& index);
  kernel::ExprRef gather_elements(const graph::Node& node, const Index& index);
  kernel::ExprRef gather_nd(const graph::Node& node, const Index& index);
  kernel::ExprRef taken(const graph::Node& top_k, const Index& index);
  kernel::ExprRef within(const std::vector<kernel::Guard>& guards, graph::Value value,
                         const Index& index);
  Dim look_up(graph::Value indices, const Index& where, const Dim& extent, graph::Value data);
  kernel::Block around(kernel::LoopKind kind, const Symbol& symbol, const Dim& extent,
                       kernel::Block body) const;
  int argument(graph::Value value);
  // `node` reads, for each of its elements, one of `data` at most: of a table few rows, as a rule.
  void reads_part(graph::Value data, const graph::Node& node);
  Dim least_bytes() const;

  graph::Value result_, root_;
  const fuse::Regions& regions_;
  const Layout& layout_;
  const TakenNames& taken_;
  kernel::Kernel kernel_;
  std::vector<graph::Value> arguments_;
  std::map<std::pair<const graph::Node*, int>, int> buffers_;
  // Of arguments of which not all is read: by whom.
  std::map<std::pair<const graph::Node*, int>, std::set<const graph::Node*>> partly_read_by_;
  std::vector<kernel::Guard> guards_;  // of every load and let that is made now
  std::pair<graph::Value, kernel::ExprRef> known_;
  kernel::Block lets_;
  std::map<std::string, Symbol> let_names_;  // by what is looked up: the same look-up is made once
  int names_ = 0;
};

// Index of an operand of `shape` when the result is indexed by `index`: right-aligned, 0 where the
// extent is 1. `onto`: the result's shape, where every index is known to lie inside it or to be
// guarded.
Index broadcast_index(const Shape& shape, const Index& index, const Shape& onto = {});
Dim dot(const Index& index, const std::vector<Dim>& strides);
// An index that was looked up in an axis without elements is a fault, and no element stands in for
// it: the guards of those of `count` axes from `first` on that may be empty.
std::vector<kernel::Guard> where_empty(const Shape& data, const Index& place, int64_t first,
                                       int64_t count);
// The scalar definition of an elementwise op.
kernel::ExprRef scalar_op(graph::Op op, std::vector<kernel::ExprRef> x);
kernel::ExprRef cast_op(const graph::Node& node, const kernel::ExprRef& x);
// The random number at a row-major position of the op's result.
kernel::ExprRef random_op(const graph::Node& node, const Dim& position);
kernel::ExprRef bit_cast_op(const graph::Node& node, const kernel::ExprRef& x);
kernel::ExprRef activation(const std::string& text, kernel::ExprRef x);

// One lowering per kind of root.
Lowered lower_contraction(Region& region);
// Where the region computes a product of bytes on the way to its root; nullopt: none.
std::optional<Lowered> lower_product(Region& region, const fuse::Regions& regions);
// One element of a matmul.
kernel::ExprRef matmul_element(Region& region, const graph::Node& node, const Index& index);
// One element of a reduction.
kernel::ExprRef reduction_element(Region& region, const graph::Node& node, const Index& index);
Lowered lower_attention(Region& region, bool turns);    // whether it turns its queries (rotary)
Lowered lower_layer_norm(Region& region, bool stored);  // whether its input lies in memory
Lowered lower_rms_norm(Region& region, bool stored);
Lowered lower_softmax(Region& region, bool stored);
Lowered lower_with_row_scale(Region& region, graph::Value scale);  // stores it, too
Lowered lower_reduction(Region& region);
Lowered lower_rotary(Region& region);
// Stores every element of one head of a rotary's row: {batch, position}.
using HeadStore = std::function<kernel::Stmt(const Dim& d, const kernel::ExprRef& value)>;
kernel::Block turned_head(Region& region, const graph::Node& rotary, const Index& row,
                          const Dim& head, const HeadStore& put);
Lowered lower_pool(Region& region);
// Where the region computes a convolution for tiles; nullopt: none, or one written out in place.
std::optional<Lowered> lower_conv(Region& region, const fuse::Regions& regions);
// One element of a convolution, as a reduction or written out.
kernel::ExprRef conv_element(Region& region, const graph::Node& conv, const Index& index);
Lowered lower_arg_reduction(Region& region);
Lowered lower_scan(Region& region);
Lowered lower_update(Region& region);
Lowered lower_scatter_elements(Region& region);
Lowered lower_scatter_nd(Region& region);
Lowered lower_top_k(Region& region);
Lowered lower_unique(Region& region);

// Every load happens only where the guard holds, and is 0 elsewhere.
kernel::ExprRef guarded(const kernel::ExprRef& root, const kernel::Guard& guard);

kernel::Block append(kernel::Block a, kernel::Block b);
std::vector<Dim> leading(const Shape& shape, int axes);  // the first extents
std::vector<Dim> without(std::vector<Dim> dims, int axis);
Index with(Index index, const Dim& last);
Index inserted(Index index, int axis, const Dim& at);

}  // namespace tenon::lower
