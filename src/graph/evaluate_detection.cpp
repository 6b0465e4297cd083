// Evaluation of non-maximum suppression, and of counting n-grams.
#include <algorithm>
#include <numeric>

#include "graph/indexing.h"

namespace tenon::graph::evaluators {

namespace {

struct Box {
  double top, left, bottom, right;

  double area() const { return (bottom - top) * (right - left); }
};

// Corners in any order, or the center, width and height.
Box box_of(std::span<const double> b, bool center) {
  if (center) {
    const double half_width = b[2] / 2, half_height = b[3] / 2;
    return {b[1] - half_height, b[0] - half_width, b[1] + half_height, b[0] + half_width};
  }
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

// What two boxes share, as part of what they cover together.
double overlap(const Box& a, const Box& b) {
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0) return 0;
  return height * width / (a.area() + b.area() - height * width);
}

struct Limits {
  int64_t most;
  double overlap, score;
};

// The best box first; each one that is left and overlaps no chosen one too much.
std::vector<int64_t> choose(std::span<const Box> boxes, std::span<const double> scores,
                            const Limits& limits) {
  std::vector<int64_t> order(boxes.size()), chosen;
  std::iota(order.begin(), order.end(), 0);
  const auto score = [&](int64_t i) { return scores[static_cast<size_t>(i)]; };
  std::erase_if(order, [&](int64_t i) { return !(score(i) > limits.score); });
  std::ranges::stable_sort(order, std::greater(), score);
  for (const int64_t i : order) {
    if (static_cast<int64_t>(chosen.size()) >= limits.most) break;
    const bool hidden = std::ranges::any_of(chosen, [&](int64_t other) {
      return overlap(boxes[static_cast<size_t>(i)], boxes[static_cast<size_t>(other)]) >
             limits.overlap;
    });
    if (!hidden) chosen.push_back(i);
  }
  return chosen;
}

// How often `gram` stands in `row`, its elements `stride` apart.
int64_t occurrences(std::span<const int64_t> row, std::span<const int64_t> gram, int64_t stride) {
  const auto width = static_cast<int64_t>(row.size());
  int64_t found = 0;
  for (int64_t start = 0; start < width; ++start) {
    bool same = true;
    int64_t at = start;
    for (size_t i = 0; i < gram.size() && same; ++i, at += stride) {
      same = at < width && row[static_cast<size_t>(at)] == gram[i];
    }
    found += same ? 1 : 0;
  }
  return found;
}

int64_t occurrences_up_to(std::span<const int64_t> row, std::span<const int64_t> gram,
                          int64_t skips) {
  const auto width = static_cast<int64_t>(row.size());
  const int64_t strides = gram.size() == 1 ? 1 : std::min(skips + 1, width);  // beyond: none fits
  int64_t found = 0;
  for (int64_t stride = 1; stride <= strides; ++stride) found += occurrences(row, gram, stride);
  return found;
}

}  // namespace

Results non_max_suppression(const Evaluation& e) {
  const std::vector<double> corners = to_doubles(e.operand(0)), scores = to_doubles(e.operand(1));
  const Extents& shape = e.operand(1).shape;  // batch, class, box
  if (e.operand(0).shape != Extents{shape[0], shape[2], 4}) {
    throw user_error("[non_max_suppression] [{}] boxes for [{}] scores",
                     fmt::join(e.operand(0).shape, ", "), fmt::join(shape, ", "));
  }
  const Limits limits{integer_from(e, 2, "the limit"), to_doubles(e.operand(3)).at(0),
                      to_doubles(e.operand(4)).at(0)};
  const bool center = e.attributes().integer("center") != 0;
  const auto count = static_cast<size_t>(shape[2]);
  std::vector<int64_t> rows;
  for (int64_t batch = 0; batch < shape[0]; ++batch) {
    std::vector<Box> boxes;
    for (size_t i = 0; i < count; ++i) {
      const size_t at = (static_cast<size_t>(batch) * count + i) * 4;
      boxes.push_back(box_of(std::span(corners).subspan(at, 4), center));
    }
    for (int64_t kind = 0; kind < shape[1]; ++kind) {
      const auto at = static_cast<size_t>(batch * shape[1] + kind) * count;
      for (const int64_t i : choose(boxes, std::span(scores).subspan(at, count), limits)) {
        rows.insert(rows.end(), {batch, kind, i});
      }
    }
  }
  return {from_integers(DType::I64, {static_cast<int64_t>(rows.size()) / 3, 3}, rows)};
}

Results count_grams(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const std::vector<int64_t>&pool = e.attributes().integers("pool"),
        &lengths = e.attributes().integers("lengths"), &places = e.attributes().integers("places");
  const int64_t skips = e.attributes().integer("skips"), size = e.attributes().integer("size");
  const std::vector<int64_t> elements = to_integers(x);
  Extents shape(x.shape.begin(), x.shape.end() - 1);
  const int64_t rows = element_count(shape);
  const auto width = static_cast<size_t>(x.shape.back());
  shape.push_back(size);
  std::vector<int64_t> counts(static_cast<size_t>(element_count(shape)));
  for (int64_t r = 0; r < rows; ++r) {
    const auto row = std::span(elements).subspan(static_cast<size_t>(r) * width, width);
    size_t at = 0;
    for (size_t i = 0; i < lengths.size(); ++i) {
      const auto gram = std::span(pool).subspan(at, static_cast<size_t>(lengths[i]));
      counts[static_cast<size_t>(r * size + places[i])] += occurrences_up_to(row, gram, skips);
      at += gram.size();
    }
  }
  return {from_integers(e.dtype(), std::move(shape), counts)};
}

}  // namespace tenon::graph::evaluators
