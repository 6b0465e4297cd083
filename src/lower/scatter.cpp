// Scatter: a copy of the data, then the updates in order, so that the last one counts and sums have
// one order. Parallel is only what can never meet: lines along the axis, blocks behind a position.
#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;
using graph::Node;
using graph::Value;

namespace {

struct JoinRow {
  std::string_view reduction;
  graph::Op op;
};
constexpr JoinRow kJoins[] = {{"add", graph::Op::Add},
                              {"mul", graph::Op::Mul},
                              {"min", graph::Op::Min},
                              {"max", graph::Op::Max}};

// What an element becomes by an update.
ExprRef joined(const Node& node, const ExprRef& old, const ExprRef& update) {
  for (const JoinRow& row : kJoins) {
    if (row.reduction == node.attributes().text("reduction"))
      return scalar_op(row.op, {old, update});
  }
  return update;
}

// `count` axes from `first` on are places that were looked up.
Stmt updated(Region& region, const Index& place, int64_t first, int64_t count,
             const ExprRef& update) {
  const std::vector<Guard> guards = where_empty(region.root().shape(), place, first, count);
  ExprRef old = region.load_result(place);
  for (const Guard& guard : guards) old = guarded(old, guard);
  const Stmt stmt = region.store_result(place, joined(*region.root().node, old, update));
  Store store = *stmt.as<Store>();
  store.guards.insert(store.guards.end(), guards.begin(), guards.end());
  return {std::move(store)};
}

}  // namespace

Lowered lower_scatter_elements(Region& region) {
  const Value root = region.root();
  const Node& node = *root.node;
  const Value data = node.operand(0), indices = node.operand(1), updates = node.operand(2);
  const auto axis = static_cast<int>(node.attributes().integer("axis"));
  const Dim n = root.shape()[axis], most = indices.shape()[axis];
  const std::vector<Dim> others = without(root.shape().dims(), axis);
  const std::vector<Dim> named = without(indices.shape().dims(), axis);
  Block body = region.loops(others, [&](const Index& line) -> Block {
    Block copy = region.loops({n}, [&](const Index& at) -> Block {
      const Index place = inserted(line, axis, at[0]);
      return {region.store_result(place, region.at(data, place))};
    });
    // Lines beyond the indices have no updates.
    ExprRef inside;
    for (size_t i = 0; i < others.size(); ++i) {
      if (others[i] == named[i]) continue;
      const ExprRef here = in_range(line[i], named[i]);
      inside = inside ? pointwise(Op::And, {inside, here}) : here;
    }
    Dim count = most;
    Block lets;
    if (inside) {
      const ExprRef some = index_value(DType::I64, most), none = constant(DType::I64, 0);
      count = region.known("count", select(inside, some, none), most + 1);
      lets = region.take_lets();
    }
    Block scatter = region.loops(
        {count},
        [&](const Index& at) -> Block {
          const Index from = inserted(line, axis, at[0]);
          const Dim place = region.position(region.at(indices, from), n, data);
          return {updated(region, inserted(line, axis, place), axis, 1, region.at(updates, from))};
        },
        LoopKind::Serial);
    return append(append(std::move(lets), std::move(copy)), std::move(scatter));
  });
  return region.finish("scatter_elements", std::move(body));
}

Lowered lower_scatter_nd(Region& region) {
  const Value root = region.root();
  const Node& node = *root.node;
  const Value data = node.operand(0), indices = node.operand(1), updates = node.operand(2);
  const int rank = indices.shape().rank();
  const auto named = static_cast<int>(indices.shape()[rank - 1].const_value());
  const std::vector<Dim>& extents = root.shape().dims();
  auto joined_index = [](Index a, const Index& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  Block body = region.loops({extents.begin() + named, extents.end()}, [&](const Index& inner) {
    Block copy = region.loops(leading(root.shape(), named), [&](const Index& at) -> Block {
      const Index place = joined_index(at, inner);
      return {region.store_result(place, region.at(data, place))};
    });
    Block scatter = region.loops(
        leading(indices.shape(), rank - 1),
        [&](const Index& from) -> Block {
          Index place;
          for (int i = 0; i < named; ++i) {
            const ExprRef found = region.at(indices, with(from, i));
            place.push_back(region.position(found, extents[static_cast<size_t>(i)], data));
          }
          const ExprRef update = region.at(updates, joined_index(from, inner));
          return {updated(region, joined_index(std::move(place), inner), 0, named, update)};
        },
        LoopKind::Serial);
    return append(std::move(copy), std::move(scatter));
  });
  return region.finish("scatter_nd", std::move(body));
}

}  // namespace tenon::lower
