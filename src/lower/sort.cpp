// See sort.h.
#include "lower/sort.h"

namespace tenon::lower {

using namespace kernel;

namespace {

constexpr DType kI64 = DType::I64;
constexpr int64_t kPasses = 40;  // runs double: enough for any extent

ExprRef index(const Dim& dim) { return index_value(kI64, dim); }
ExprRef both(const ExprRef& a, const ExprRef& b) { return pointwise(Op::And, {a, b}); }
ExprRef either(const ExprRef& a, const ExprRef& b) { return pointwise(Op::Or, {a, b}); }
ExprRef negated(const ExprRef& a) { return pointwise(Op::Not, {a}); }

}  // namespace

ExprRef is_less(const ExprRef& a, const ExprRef& b) {
  const ExprRef less = pointwise(Op::Less, {a, b});
  if (!is_float(a->dtype)) return less;
  return either(less, both(pointwise(Op::Equal, {a, a}), negated(pointwise(Op::Equal, {b, b}))));
}

Sorted merge_sort(Region& region, const Dim& n, const Precedes& precedes) {
  const int order = region.local_row("order", kI64, n * 2);
  const int width = region.local_scalar("width", kI64), from = region.local_scalar("from", kI64);
  const int left = region.local_scalar("left", kI64), right = region.local_scalar("right", kI64);
  auto value = [](int scalar) { return load(scalar, kI64, 0); };
  auto set = [](int scalar, const ExprRef& to) { return store(scalar, 0, to); };
  auto symbol = [&](const char* stem, const Dim& extent) { return region.fresh(stem, extent); };
  auto named = [&](const Symbol& s, const ExprRef& e) { return let_known(s, e, *s.extent()); };

  const Symbol i0 = symbol("i", n), pass = symbol("pass", kPasses), w = symbol("w", n * 2 + 2);
  const Symbol f = symbol("f", n + 1), runs = symbol("runs", n + 1), run = symbol("run", runs);
  const Dim low = Dim(run) * w * 2, middle = min(low + w, n), high = min(low + Dim(w) * 2, n);
  const Symbol t = symbol("t", high - low), i = symbol("i", n + 1), j = symbol("j", n + 1);
  const Symbol a = symbol("a", n), b = symbol("b", n);

  // One element: the left one, unless the right one comes first or no left one is left.
  Block merge = {
      named(i, value(left)),
      named(j, value(right)),
      let_known(a, load(order, kI64, Dim(f) + i, {{i, middle}}), n),
      let_known(b, load(order, kI64, Dim(f) + j, {{j, high}}), n),
  };
  const ExprRef first = precedes(b, a, merge);
  const ExprRef take_right = both(in_range(j, high), either(negated(in_range(i, middle)), first));
  merge.push_back(store(order, n - f + low + t, select(take_right, index(b), index(a))));
  merge.push_back(set(left, select(take_right, index(i), index(Dim(i) + 1))));
  merge.push_back(set(right, select(take_right, index(Dim(j) + 1), index(j))));

  const ExprRef unsorted = pointwise(Op::Less, {value(width), index(n)});
  Block passes = {
      named(w, value(width)),
      named(f, value(from)),
      named(runs, select(unsorted, index(ceildiv(n, Dim(w) * 2)), constant(kI64, 0))),
      loop(LoopKind::Serial, run, runs,
           {set(left, index(low)), set(right, index(middle)),
            loop(LoopKind::Serial, t, high - low, std::move(merge))}),
      set(from, select(unsorted, index(n - f), index(f))),
      set(width, select(unsorted, index(Dim(w) * 2), index(w))),
  };
  Block all = {
      loop(LoopKind::Parallel, i0, n, {store(order, i0, index(i0))}),
      set(width, constant(kI64, 1)),
      set(from, constant(kI64, 0)),
      loop(LoopKind::Serial, pass, kPasses, std::move(passes)),
  };
  const Symbol done = symbol("sorted", n + 1);
  return {std::move(all), named(done, value(from)),
          [order, done](const Dim& place) { return load(order, kI64, Dim(done) + place); }};
}

}  // namespace tenon::lower
