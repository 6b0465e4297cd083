// The mixture of experts against the plain way: every row through each of its experts, one by one.
#include <algorithm>

#include "tests/hir/model.h"

namespace tenon::hir_test {
namespace {

using naive::random;

Array matrix_of(const Array& weights, int64_t expert) {
  Array result({weights.shape[1], weights.shape[2]});
  std::copy_n(weights.data.begin() + expert * static_cast<int64_t>(result.data.size()),
              result.data.size(), result.data.begin());
  return result;
}

struct Weights {
  Array router, gate, up, down;
};

Array mixture(const Array& x, const Weights& w, int64_t top_k, bool renormalize) {
  Array result(x.shape);
  const Array logits = naive::matmul(x, w.router);
  for (int64_t row = 0; row < x.rows(); ++row) {
    std::vector<double> likes(logits.data.begin() + row * logits.width(),
                              logits.data.begin() + (row + 1) * logits.width());
    naive::softmax(likes);
    std::vector<int64_t> experts(likes.size());
    std::iota(experts.begin(), experts.end(), 0);
    std::ranges::stable_sort(experts, std::greater<>(),
                             [&](int64_t e) { return likes[static_cast<size_t>(e)]; });
    experts.resize(static_cast<size_t>(top_k));
    double total = 0;
    for (const int64_t e : experts) total += likes[static_cast<size_t>(e)];
    Array one({1, x.width()});
    for (int64_t j = 0; j < x.width(); ++j) one.at(0, j) = x.at(row, j);
    for (const int64_t e : experts) {
      const double weight = likes[static_cast<size_t>(e)] / (renormalize ? total : 1);
      const Array y =
          naive::swiglu(one, matrix_of(w.gate, e), matrix_of(w.up, e), matrix_of(w.down, e));
      for (int64_t j = 0; j < x.width(); ++j) result.at(row, j) += weight * y.at(0, j);
    }
  }
  return result;
}

void check(const Array& x, const Weights& w, const hir::MoeOptions& options) {
  Model model;
  const HirValue y = model.m.moe(
      model.input("x", x),
      {model.param(w.router), model.param(w.gate), model.param(w.up), model.param(w.down)},
      options);
  model.expect({{y, mixture(x, w, options.top_k, options.renormalize)}});
}

Weights weights(int64_t experts) {
  return {random({8, experts}, 2), random({experts, 8, 12}, 3), random({experts, 8, 12}, 4),
          random({experts, 12, 8}, 5)};
}

TEST(HirMoe, SendsRowsThroughTheirBestExperts) {
  const Array x = random({2, 5, 8}, 1);
  check(x, weights(4), {.top_k = 2});
  check(x, weights(4), {.top_k = 1, .renormalize = false});
  check(x, weights(3), {.top_k = 3, .renormalize = false});
}

TEST(HirMoe, SomeExpertsAreChosenByNoRow) { check(random({1, 1, 8}, 7), weights(5), {.top_k = 2}); }

}  // namespace
}  // namespace tenon::hir_test
