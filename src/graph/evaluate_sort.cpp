// Evaluation of search and sort: positions that are not zero, the k largest, the elements that
// differ.
#include <algorithm>
#include <numeric>

#include "graph/indexing.h"

namespace tenon::graph::evaluators {

namespace {

// One way through the axis: where its elements stand, the order in which they are taken.
template <typename Key>
std::vector<int64_t> order_of(const std::vector<Key>& keys, std::span<const int64_t> at,
                              bool largest) {
  std::vector<int64_t> order(at.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    const Key x = keys[static_cast<size_t>(at[static_cast<size_t>(a)])];
    const Key y = keys[static_cast<size_t>(at[static_cast<size_t>(b)])];
    return largest ? key_less(y, x) : key_less(x, y);
  });
  return order;
}

// The slices of an axis that differ: which one each equals, and those that came first.
struct Groups {
  std::vector<int64_t> first, inverse, counts;
};

Groups groups_of(const std::vector<std::vector<int64_t>>& slices, const auto& compare,
                 bool sorted) {
  const auto count = static_cast<int64_t>(slices.size());
  const auto less = [&](int64_t a, int64_t b) {
    return compare(slices[static_cast<size_t>(a)], slices[static_cast<size_t>(b)]);
  };
  std::vector<int64_t> order(slices.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, less);
  std::vector<int64_t> first_of(slices.size());  // the first slice that equals this one
  std::vector<int64_t> firsts;
  for (size_t i = 0; i < order.size(); ++i) {
    const bool is_new = i == 0 || less(order[i - 1], order[i]);
    if (is_new) firsts.push_back(order[i]);
    first_of[static_cast<size_t>(order[i])] = firsts.back();
  }
  if (!sorted) std::ranges::sort(firsts);
  std::vector<int64_t> place(slices.size());
  for (size_t i = 0; i < firsts.size(); ++i) {
    place[static_cast<size_t>(firsts[i])] = static_cast<int64_t>(i);
  }
  Groups groups{firsts, {}, std::vector<int64_t>(firsts.size(), 0)};
  for (int64_t i = 0; i < count; ++i) {
    const int64_t group = place[static_cast<size_t>(first_of[static_cast<size_t>(i)])];
    groups.inverse.push_back(group);
    ++groups.counts[static_cast<size_t>(group)];
  }
  return groups;
}

Tensor vector_of(const std::vector<int64_t>& values) {
  return from_integers(DType::I64, {static_cast<int64_t>(values.size())}, values);
}

}  // namespace

Results non_zero(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const std::vector<double> values = to_doubles(x);  // an integer is 0 where its double is
  std::vector<int64_t> found;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) found.push_back(static_cast<int64_t>(i));
  }
  const Extents strides = row_major_strides(x.shape);
  std::vector<int64_t> positions;
  for (size_t axis = 0; axis < x.shape.size(); ++axis) {
    for (const int64_t at : found) positions.push_back(at / strides[axis] % x.shape[axis]);
  }
  return {from_integers(DType::I64,
                        {static_cast<int64_t>(x.shape.size()), static_cast<int64_t>(found.size())},
                        positions)};
}

Results top_k(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const auto axis = static_cast<size_t>(e.attributes().integer("axis"));
  const bool largest = e.attributes().integer("largest") != 0;
  const AroundAxis around(x.shape, axis);
  const int64_t k = integer_from(e, 1, "k");
  if (k < 0 || k > around.extent) {
    throw user_error("[top_k] {} of axis {} of extent {}", k, axis, around.extent);
  }
  Extents shape = x.shape;
  shape[axis] = k;
  const AroundAxis result(shape, axis);
  std::vector<int64_t> at(static_cast<size_t>(element_count(shape))), indices(at.size());
  const Keys keys = sort_keys(x);
  for (int64_t o = 0; o < around.outer; ++o) {
    for (int64_t i = 0; i < around.inner; ++i) {
      std::vector<int64_t> line;
      for (int64_t n = 0; n < around.extent; ++n) line.push_back(around.offset(o, n, i));
      const std::vector<int64_t> order =
          std::visit([&](const auto& all) { return order_of(all, line, largest); }, keys);
      for (int64_t n = 0; n < k; ++n) {
        const auto to = static_cast<size_t>(result.offset(o, n, i));
        indices[to] = order[static_cast<size_t>(n)];
        at[to] = line[static_cast<size_t>(indices[to])];
      }
    }
  }
  Tensor places = from_integers(DType::I64, shape, indices);
  return {pick(x, std::move(shape), at), std::move(places)};
}

Results unique(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const auto axis = static_cast<size_t>(e.attributes().integer("axis"));
  const AroundAxis around(x.shape, axis);
  std::vector<std::vector<int64_t>> slices(static_cast<size_t>(around.extent));
  for (int64_t n = 0; n < around.extent; ++n) {
    for (int64_t o = 0; o < around.outer; ++o) {
      for (int64_t i = 0; i < around.inner; ++i) {
        slices[static_cast<size_t>(n)].push_back(around.offset(o, n, i));
      }
    }
  }
  const bool sorted = e.attributes().integer("sorted") != 0;
  const Groups groups = std::visit(
      [&](const auto& keys) {
        const auto key_at = [&](int64_t at) { return keys[static_cast<size_t>(at)]; };
        const auto compare = [&](const auto& a, const auto& b) {
          return std::ranges::lexicographical_compare(
              a, b, [](auto p, auto q) { return key_less(p, q); }, key_at, key_at);
        };
        return groups_of(slices, compare, sorted);
      },
      sort_keys(x));
  Extents shape = x.shape;
  shape[axis] = static_cast<int64_t>(groups.first.size());
  std::vector<int64_t> at;
  for (int64_t o = 0; o < around.outer; ++o) {
    for (const int64_t n : groups.first) {
      for (int64_t i = 0; i < around.inner; ++i) at.push_back(around.offset(o, n, i));
    }
  }
  return {pick(x, std::move(shape), at), vector_of(groups.first), vector_of(groups.inverse),
          vector_of(groups.counts)};
}

}  // namespace tenon::graph::evaluators
