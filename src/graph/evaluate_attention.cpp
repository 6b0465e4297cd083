// Evaluation of attention: one query of one head after the other, all its scores in a row, in f64.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "graph/evaluate.h"

namespace tenon::graph::evaluators {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// exp(row - max) / sum; 0 where every score is -inf.
void softmax_row(std::span<double> row) {
  double largest = -kInf, sum = 0;
  for (const double score : row) largest = std::isnan(score) ? score : std::max(largest, score);
  if (largest == -kInf) {
    std::ranges::fill(row, 0.0);
    return;
  }
  for (double& score : row) sum += score = std::exp(score - largest);
  for (double& score : row) score /= sum;
}

// What is done to the product of a query and a key before the softmax.
struct Scoring {
  double scale, softcap;
  bool causal;
  int64_t window;

  explicit Scoring(const Attributes& attributes)
      : scale(attributes.number("scale")),
        softcap(attributes.number("softcap")),
        causal(attributes.integer("causal") != 0),
        window(attributes.integer("window")) {}

  double capped(double product) const {
    const double score = product * scale;
    return softcap == 0 ? score : softcap * std::tanh(score / softcap);
  }
  // Whether a query sees key j; `last` is the one that is as late as itself.
  bool sees(int64_t j, int64_t last) const {
    return !causal || (j <= last && (window == 0 || j > last - window));
  }
};

}  // namespace

Results attention(const Evaluation& e) {
  const Tensor &tq = e.operand(0), &tk = e.operand(1), &tv = e.operand(2);
  const auto heads = static_cast<size_t>(e.attributes().integer("heads"));
  const auto kv_heads = static_cast<size_t>(e.attributes().integer("kv_heads"));
  const auto width = static_cast<size_t>(e.attributes().integer("head_dim"));
  const Scoring scoring(e.attributes());
  const auto batch = static_cast<size_t>(tq.shape[0]), queries = static_cast<size_t>(tq.shape[1]);
  const auto keys = static_cast<size_t>(tk.shape[1]);
  if (tk.shape != tv.shape || tk.shape[0] != tq.shape[0]) {
    throw user_error("[attention] extents of q, k and v differ: [{}] x [{}] x [{}]",
                     fmt::join(tq.shape, ", "), fmt::join(tk.shape, ", "),
                     fmt::join(tv.shape, ", "));
  }
  const std::vector<double> q = to_doubles(tq), k = to_doubles(tk), v = to_doubles(tv);
  const Extents score_shape{tq.shape[0], static_cast<int64_t>(heads), tq.shape[1], tk.shape[1]};
  std::vector<double> mask;
  std::vector<int64_t> at_mask;
  if (e.node.operand_count() == 4) {
    mask = to_doubles(e.operand(3));
    at_mask = spread_offsets(e.operand(3).shape, score_shape);
  }
  std::vector<double> result(q.size()), scores(keys);
  const size_t row_q = heads * width, row_kv = kv_heads * width;
  for (size_t row = 0; row < batch * heads * queries; ++row) {
    const size_t b = row / (heads * queries), h = row / queries % heads, i = row % queries;
    const double* qi = q.data() + (b * queries + i) * row_q + h * width;
    const size_t head_kv = b * keys * row_kv + h / (heads / kv_heads) * width;
    const auto last = static_cast<int64_t>(i + keys) - static_cast<int64_t>(queries);
    for (size_t j = 0; j < keys; ++j) {
      const double* kj = k.data() + head_kv + j * row_kv;
      double sum = 0;
      for (size_t d = 0; d < width; ++d) sum += qi[d] * kj[d];
      scores[j] = scoring.capped(sum);
      if (!mask.empty()) scores[j] += mask[static_cast<size_t>(at_mask[row * keys + j])];
      if (!scoring.sees(static_cast<int64_t>(j), last)) scores[j] = -kInf;
    }
    softmax_row(scores);
    double* out = result.data() + (b * queries + i) * row_q + h * width;
    for (size_t j = 0; j < keys; ++j) {
      const double* vj = v.data() + head_kv + j * row_kv;
      for (size_t d = 0; d < width; ++d) out[d] += scores[j] * vj[d];
    }
  }
  return {from_doubles(e.dtype(), tq.shape, result)};
}

}  // namespace tenon::graph::evaluators
