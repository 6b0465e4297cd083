// Pools over windows: maxima with their places, averages, sums of powers. Windows of few taps are
// written out, with vectors over positions; larger ones run over their taps for each element.
#include <cmath>
#include <limits>

#include "lower/window.h"

namespace tenon::lower {

using namespace kernel;
using graph::Node;
using graph::Value;

namespace {

constexpr int64_t kWrittenOut = 64;  // taps, at most

double lowest(DType dtype) {
  if (is_float(dtype)) return -std::numeric_limits<double>::infinity();
  return info(dtype).kind == DTypeKind::Signed ? -std::ldexp(1.0, info(dtype).bits - 1) : 0.0;
}

class Pool {
 public:
  Pool(Region& region, const Index& index)
      : region_(region),
        node_(*region.root().node),
        window_(window_of(node_, spatial(node_.operand(0).shape()), kernel_dims(node_))),
        front_(index.begin(), index.begin() + 2),
        position_(index.begin() + 2, index.end()) {}

  int64_t taps() const { return window_.taps().const_value(); }
  bool is_max() const { return node_.op() == graph::Op::MaxPool; }

  Block statements(const Index& index) {
    Block result;
    if (!is_max()) {
      result = {region_.store_result(
          index, taps() <= kWrittenOut ? finish(written_out_sum()) : finish(reduced_sum()))};
    } else if (taps() <= kWrittenOut) {
      Best best = none();
      for (int64_t t = 0; t < taps(); ++t) best = better(best, t);
      result = {region_.store_result(index, wanted(best))};
    } else {
      result = carried_max(index);
    }
    return append(region_.take_lets(), std::move(result));
  }

 private:
  static std::vector<Dim> kernel_dims(const Node& node) {
    const auto& kernel = node.attributes().integers("kernel");
    return {kernel.begin(), kernel.end()};
  }

  struct Tap {
    ExprRef value;
    Index at;
    std::vector<Guard> guards;
  };
  Tap tap(const Dim& t) {
    const Index at = window_.at(position_, delinearize(t, window_.kernel));
    const std::vector<Guard> guards = window_.guards(at);
    Index full = front_;
    full.insert(full.end(), at.begin(), at.end());
    return {zero_outside(region_.at(node_.operand(0), full), guards), at, guards};
  }

  // Sums.
  ExprRef power(const ExprRef& x) const {
    if (node_.op() == graph::Op::AveragePool) return x;
    return node_.attributes().number("p") == 1 ? pointwise(Op::Abs, {x}) : x * x;
  }
  ExprRef written_out_sum() {
    ExprRef sum = power(tap(0).value);
    for (int64_t t = 1; t < taps(); ++t) sum = sum + power(tap(t).value);
    return sum;
  }
  ExprRef reduced_sum() {
    const Symbol t = region_.range("t", taps());
    return reduce(Op::ReduceAdd, t, taps(), {power(tap(t).value)});
  }
  ExprRef finish(const ExprRef& sum) const {
    if (node_.op() == graph::Op::AveragePool) return sum / index_value(sum->dtype, divisor());
    return node_.attributes().number("p") == 1 ? sum : pointwise(Op::Sqrt, {sum});
  }
  // How many taps count: those in the image, or those before the end of its padding.
  Dim divisor() const {
    const bool padding_counts = node_.attributes().find("ends") != nullptr;
    Dim count = 1;
    for (size_t i = 0; i < window_.rank(); ++i) {
      const Dim start = position_[i] * window_.strides[i];
      if (padding_counts) {
        const Dim end = window_.image[i] + window_.begins[i] + node_.attributes().dims("ends")[i];
        count = count * window_.taps_inside(i, start, end);
      } else if (window_.always_inside(i)) {
        count = count * window_.kernel[i];
      } else {
        count = count * window_.taps_inside(i, start - window_.begins[i], window_.image[i]);
      }
    }
    return max(count, 1);
  }

  // Maxima. A NaN is larger than every number; of equal elements the first counts.
  struct Best {
    ExprRef value, place;  // place: -1 where there is none
  };
  Best none() const { return {constant(dtype(), lowest(dtype())), constant(DType::I64, -1)}; }
  DType dtype() const { return computed_in(node_.operand(0).dtype()); }
  bool wants_place() const { return region_.root().result == 1; }
  ExprRef wanted(const Best& best) const { return wants_place() ? best.place : best.value; }

  Best better(const Best& best, const Dim& t) {
    const Tap next = tap(t);
    ExprRef take = pointwise(Op::Less, {best.value, next.value});
    if (is_float(dtype())) {
      const ExprRef number = pointwise(Op::Equal, {best.value, best.value});
      const ExprRef nan = pointwise(Op::Not, {pointwise(Op::Equal, {next.value, next.value})});
      take = pointwise(Op::Or, {take, pointwise(Op::And, {nan, number})});
    }
    if (wants_place()) {
      take = pointwise(Op::Or, {take, pointwise(Op::Less, {best.place, constant(DType::I64, 0)})});
    }
    if (const ExprRef here = inside(next.guards)) take = pointwise(Op::And, {here, take});
    Best result{select(take, next.value, best.value), best.place};
    if (wants_place())
      result.place = select(take, index_value(DType::I64, place_of(next.at)), best.place);
    return result;
  }

  // The number of an element in all of x.
  Dim place_of(const Index& at) const {
    const Shape& shape = node_.operand(0).shape();
    Dim result = front_[0] * shape[1] + front_[1];
    for (const Dim& extent : window_.image) result = result * extent;
    Dim stride = 1;
    const bool reversed = node_.attributes().integer("column_major") != 0;
    for (size_t i = 0; i < at.size(); ++i) {
      const size_t axis = reversed ? i : at.size() - 1 - i;
      result = result + at[axis] * stride;
      stride = stride * window_.image[axis];
    }
    return result;
  }

  // Tap by tap, the best one in locals.
  Block carried_max(const Index& index) {
    const int value = region_.local_scalar("best", dtype());
    const Symbol t = region_.range("t", taps());
    if (!wants_place()) {
      const Best best{load(value, dtype(), 0), nullptr};
      return {store(value, 0, none().value),
              loop(LoopKind::Serial, t, taps(), {store(value, 0, better(best, t).value)}),
              region_.store_result(index, best.value)};
    }
    const int place = region_.local_scalar("place", DType::I64);
    const Best best{load(value, dtype(), 0), load(place, DType::I64, 0)};
    const Tap next = tap(t);
    // The place changes first; the value follows where it is this tap's.
    ExprRef took = pointwise(Op::Equal, {best.place, index_value(DType::I64, place_of(next.at))});
    if (const ExprRef here = inside(next.guards)) took = pointwise(Op::And, {here, took});
    Block step = {store(place, 0, better(best, t).place),
                  store(value, 0, select(took, next.value, best.value))};
    return {store(value, 0, none().value), store(place, 0, none().place),
            loop(LoopKind::Serial, t, taps(), std::move(step)),
            region_.store_result(index, best.place)};
  }

  Region& region_;
  const Node& node_;
  const Window window_;
  const Index front_, position_;
};

}  // namespace

Lowered lower_pool(Region& region) {
  const Value root = region.root();
  Block body = region.result_loops(
      [&](const Index& index) { return Pool(region, index).statements(index); });
  return region.finish(std::string(graph::info(root.op()).text), std::move(body));
}

}  // namespace tenon::lower
