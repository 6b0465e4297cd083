// Kernels on sorted lines: the k largest or smallest of an axis, and which slices of an axis are
// equal.
#include "lower/sort.h"

namespace tenon::lower {

using namespace kernel;
using graph::Node;
using graph::Value;

// Result 1: the indices. (The values are looked up there by their consumers.)
Lowered lower_top_k(Region& region) {
  const Value root = region.root();
  const Node& node = *root.node;
  const Value x = node.operand(0);
  const auto axis = static_cast<int>(node.attributes().integer("axis"));
  const bool largest = node.attributes().integer("largest") != 0;
  const Dim n = x.shape()[axis], count = root.shape()[axis];
  Block body = region.loops(without(root.shape().dims(), axis), [&](const Index& line) -> Block {
    const Sorted sorted = merge_sort(region, n, [&](const Dim& a, const Dim& b, Block&) {
      const ExprRef p = region.at(x, inserted(line, axis, a));
      const ExprRef q = region.at(x, inserted(line, axis, b));
      return largest ? is_less(q, p) : is_less(p, q);
    });
    Block block = append(sorted.statements, {sorted.start});
    return append(std::move(block), region.loops({count}, [&](const Index& place) -> Block {
      const ExprRef found = guarded(sorted.at(place[0]), {place[0], n});
      return {region.store_result(inserted(line, axis, place[0]), found)};
    }));
  });
  return region.finish("top_k", std::move(body));
}

namespace {

// Which of two slices of an axis is less, by the first elements that differ.
class SliceOrder {
 public:
  SliceOrder(Region& region, Value x, int axis)
      : region_(region), x_(x), axis_(axis), order_(region.local_scalar("order", DType::I64)) {}

  // Whether slice a is less than b.
  ExprRef precedes(const Dim& a, const Dim& b, Block& before) {
    const std::vector<Dim> others = without(x_.shape().dims(), axis_);
    if (Shape(others).elements().is_const(1)) {
      const Index all(others.size());
      return is_less(element(all, a), element(all, b));
    }
    auto number = [](int value) { return constant(DType::I64, value); };
    const ExprRef order = load(order_, DType::I64, 0);
    before.push_back(store(order_, 0, number(0)));
    before = append(std::move(before),
                    region_.loops(
                        others,
                        [&](const Index& at) -> Block {
                          const ExprRef p = element(at, a), q = element(at, b);
                          const ExprRef here = select(is_less(p, q), number(1),
                                                      select(is_less(q, p), number(2), number(0)));
                          const ExprRef undecided = pointwise(Op::Equal, {order, number(0)});
                          return {store(order_, 0, select(undecided, here, order))};
                        },
                        LoopKind::Serial));
    return pointwise(Op::Equal, {order, number(1)});
  }

 private:
  ExprRef element(const Index& others, const Dim& at) {
    return region_.at(x_, inserted(others, axis_, at));
  }

  Region& region_;
  Value x_;
  int axis_;
  int order_;  // 0: equal so far, 1: the first is less, 2: the second is
};

}  // namespace

// Result 2: the number of the slice's group. Slices in order; each that differs from the one before
// opens a group. Groups are numbered in order, or by their first slices.
Lowered lower_unique(Region& region) {
  const Value root = region.root();
  const Node& node = *root.node;
  const Value x = node.operand(0);
  const auto axis = static_cast<int>(node.attributes().integer("axis"));
  const bool in_order = node.attributes().integer("sorted") != 0;
  const Dim n = x.shape()[axis];
  constexpr DType kI64 = DType::I64;
  SliceOrder slices(region, x, axis);
  auto precedes = [&](const Dim& a, const Dim& b, Block& before) {
    return slices.precedes(a, b, before);
  };
  const Sorted sorted = merge_sort(region, n, precedes);
  Block body = append(sorted.statements, {sorted.start});

  const int group = region.local_scalar("group", kI64), first = region.local_scalar("first", kI64);
  const int first_of = region.local_row("first_of", kI64, n);
  const ExprRef now = load(group, kI64, 0), one = constant(kI64, 1);
  const Symbol i = region.fresh("i", n), a = region.fresh("a", n), b = region.fresh("b", n);
  Block walk = {let_known(a, guarded(sorted.at(Dim(i) - 1), {Dim(i) - 1, n}), n),
                let_known(b, sorted.at(i), n)};
  const ExprRef differs = precedes(a, b, walk);
  const ExprRef is_new = pointwise(Op::Or, {in_range(i, 1), differs});
  walk.push_back(store(group, 0, select(is_new, now + one, now)));
  walk.push_back(store(first, 0, select(is_new, index_value(kI64, b), load(first, kI64, 0))));
  walk.push_back(in_order ? region.store_result({b}, now)
                          : store(first_of, b, load(first, kI64, 0)));
  body.push_back(store(group, 0, constant(kI64, -1)));
  body.push_back(store(first, 0, constant(kI64, 0)));
  body.push_back(loop(LoopKind::Serial, i, n, std::move(walk)));
  if (!in_order) {
    // Positions in their own order: a group's first slice comes before the others.
    const int place = region.local_row("place", kI64, n);
    const Symbol p = region.fresh("p", n), f = region.fresh("f", n);
    const ExprRef opens = pointwise(Op::Equal, {index_value(kI64, f), index_value(kI64, p)});
    body.push_back(store(group, 0, constant(kI64, -1)));
    body.push_back(loop(
        LoopKind::Serial, p, n,
        {let_known(f, load(first_of, kI64, p), n), store(group, 0, select(opens, now + one, now)),
         store(place, p, now),  // of a first slice; the others' is not read
         region.store_result({p}, load(place, kI64, f))}));
  }
  return region.finish("unique", std::move(body));
}

}  // namespace tenon::lower
