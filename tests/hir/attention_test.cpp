// Attention with every kind of mask, and rotary embedding, against loops over doubles.
#include <cmath>

#include "tests/hir/model.h"

namespace tenon::hir_test {
namespace {

using naive::kHidden;
using naive::Place;
using naive::random;

// Queries and keys of their own lengths: 3 queries after 2 keys that came before.
constexpr int64_t kBatch = 2, kQueries = 3, kKeys = 5, kHeads = 4, kDim = 6;

struct AttentionModel : Model {
  explicit AttentionModel(int64_t kv_heads = kHeads) {
    q = random({kBatch, kQueries, kHeads * kDim}, 1);
    k = random({kBatch, kKeys, kv_heads * kDim}, 2);
    v = random({kBatch, kKeys, kv_heads * kDim}, 3);
    kv = kv_heads;
    in_q = input("q", {sym::batch(), sym::seq(), kHeads * kDim}, q);
    in_k = input("k", {sym::batch(), sym::past(), kv * kDim}, k);
    in_v = input("v", {sym::batch(), sym::past(), kv * kDim}, v);
  }
  void expect_scores(hir::AttentionOptions options, const naive::Score& score,
                     double scale = 1 / std::sqrt(double{kDim})) {
    options.heads = kHeads;
    options.kv_heads = kv == kHeads ? 0 : kv;
    expect({{m.attention(in_q, in_k, in_v, options),
             naive::attention(q, k, v, kHeads, kv, scale, score)}});
  }
  Array q{{}}, k{{}}, v{{}};
  int64_t kv = 0;
  HirValue in_q, in_k, in_v;
};

double all(double score, const Place&) { return score; }

TEST(HirAttention, WithoutMaskSeesEveryKey) { AttentionModel().expect_scores({}, all); }

TEST(HirAttention, SharesKeysAndValuesInGroupsOfHeads) {
  AttentionModel(2).expect_scores({}, all);
  AttentionModel(1).expect_scores({.causal = true}, [](double score, const Place& at) {
    return at.key <= at.query + kKeys - kQueries ? score : kHidden;
  });
}

TEST(HirAttention, TakesTheScaleOfTheScores) {
  AttentionModel().expect_scores({.head_dim = kDim, .scale = 0.75}, all, 0.75);
}

TEST(HirAttention, CausalSeesWhatCameBefore) {
  AttentionModel().expect_scores({.causal = true}, [](double score, const Place& at) {
    return at.key <= at.query + kKeys - kQueries ? score : kHidden;
  });
}

TEST(HirAttention, ASlidingWindowSeesTheLastKeys) {
  AttentionModel().expect_scores({.causal = true, .window = 2}, [](double score, const Place& at) {
    const int64_t last = at.query + kKeys - kQueries;
    return at.key <= last && at.key > last - 2 ? score : kHidden;
  });
}

TEST(HirAttention, CapsScoresSoftly) {
  AttentionModel().expect_scores(
      {.softcap = 0.5}, [](double score, const Place&) { return 0.5 * std::tanh(score / 0.5); });
  AttentionModel(2).expect_scores(
      {.softcap = 2, .causal = true}, [](double score, const Place& at) {
        return at.key <= at.query + kKeys - kQueries ? 2 * std::tanh(score / 2) : kHidden;
      });
}

Array padding() {  // the second row of the batch has three keys
  Array mask({kBatch, 1, 1, kKeys});
  for (int64_t b = 0; b < kBatch; ++b) {
    for (int64_t j = 0; j < kKeys; ++j) mask.at(b, j) = b == 0 || j < 3 ? 1 : 0;
  }
  return mask;
}
bool is_padding(const Place& at) { return at.batch == 1 && at.key >= 3; }

TEST(HirAttention, ACustomMaskSaysWhichKeysAreSeen) {
  AttentionModel model;
  const HirValue mask =
      model.input("mask", {sym::batch(), 1, 1, sym::past()}, padding(), DType::Bool);
  model.expect_scores({.mask = mask}, [](double score, const Place& at) {
    return is_padding(at) ? kHidden : score;
  });
}

TEST(HirAttention, ABiasIsAddedToTheScores) {
  AttentionModel model;
  const Array bias = random({kHeads, kQueries, kKeys}, 9);
  const HirValue added = model.input("bias", {kHeads, sym::seq(), sym::past()}, bias);
  model.expect_scores({.bias = added}, [&](double score, const Place& at) {
    return score + bias.at(at.head * kQueries + at.query, at.key);
  });
}

TEST(HirAttention, MasksAddUp) {
  AttentionModel model;
  const Array bias = random({kQueries, kKeys}, 9);
  const HirValue added = model.input("bias", {sym::seq(), sym::past()}, bias);
  const HirValue mask =
      model.input("mask", {sym::batch(), 1, 1, sym::past()}, padding(), DType::Bool);
  model.expect_scores({.causal = true, .window = 3, .mask = mask, .bias = added},
                      [&](double score, const Place& at) {
                        const int64_t last = at.query + kKeys - kQueries;
                        const bool seen = at.key <= last && at.key > last - 3 && !is_padding(at);
                        return seen ? score + bias.at(at.query, at.key) : kHidden;
                      });
}

TEST(HirRotary, TurnsPairsByTheAnglesOfTheirPositions) {
  const Array x = random({2, 5, 3 * 8}, 1);
  for (const bool interleaved : {false, true}) {
    for (const int64_t dim : {0, 4}) {
      Model model;
      const HirValue y = model.m.rotary(
          model.input("x", x), {.heads = 3, .dim = dim, .interleaved = interleaved, .theta = 500});
      const int64_t turned = dim == 0 ? 8 : dim;
      model.expect({{y, naive::rotary(x, 3, turned, interleaved, naive::angles(5, turned, 500))}});
    }
  }
}

TEST(HirRotary, MakesTablesOfTheDtypeOfX) {
  Model model;
  const Array x = random({2, 5, 3 * 8}, 1);
  const HirValue in = model.input("x", {sym::batch(), sym::seq(), 24}, x, DType::BF16);
  const HirValue y = model.m.rotary(in, {.heads = 3});
  EXPECT_EQ(y.dtype(), DType::BF16);
  model.expect({{y, naive::rotary(x, 3, 8, false, naive::angles(5, 8, 10000))}}, 0.02);
}

// A far position, where an angle of f32 would be wrong in its third digit.
TEST(HirRotary, ComputesTablesOfF64InF64) {
  Model model;
  Array x({1, 2, 4}), positions({1, 2});
  x.data = {1, 2, 3, 4, 0.5, -1, 2, 1};
  positions.data = {3, 123457};
  const HirValue in = model.input("x", {sym::batch(), sym::seq(), 4}, x, DType::F64);
  const HirValue where =
      model.input("positions", {sym::batch(), sym::seq()}, positions, DType::I64);
  const HirValue y = model.m.rotary(in, {.heads = 1, .positions = where});
  EXPECT_EQ(y.dtype(), DType::F64);
  const auto angle = [&](int64_t row, int64_t pair) {
    return positions.data[static_cast<size_t>(row)] * (pair == 0 ? 1.0 : 0.01);
  };
  model.expect({{y, naive::rotary(x, 1, 4, false, angle)}}, 1e-9);
}

TEST(HirRotary, TakesPositionsOrTables) {
  const Array x = random({2, 3, 2 * 4}, 1);
  Array positions({2, 3});
  positions.data = {4, 5, 6, 0, 9, 2};
  const auto angle = [&](int64_t row, int64_t pair) {
    return positions.data[static_cast<size_t>(row)] * std::pow(10000.0, -0.5 * double(pair));
  };
  Array cos({2, 3, 2}), sin({2, 3, 2}), row_cos({3, 2}), row_sin({3, 2});
  for (int64_t row = 0; row < 6; ++row) {
    for (int64_t pair = 0; pair < 2; ++pair) {
      cos.at(row, pair) = std::cos(angle(row, pair));
      sin.at(row, pair) = std::sin(angle(row, pair));
      if (row < 3)
        row_cos.at(row, pair) = cos.at(row, pair), row_sin.at(row, pair) = sin.at(row, pair);
    }
  }
  Model model;
  const Shape of_batch{sym::batch(), sym::seq(), 2}, of_rows{sym::seq(), 2};
  const HirValue input = model.input("x", x);
  const HirValue where =
      model.input("positions", {sym::batch(), sym::seq()}, positions, DType::I64);
  const HirValue by_position = model.m.rotary(input, {.heads = 2, .positions = where});
  const HirValue by_table = model.m.rotary(input, {.heads = 2,
                                                   .cos = model.input("cos", of_batch, cos),
                                                   .sin = model.input("sin", of_batch, sin)});
  const HirValue by_rows = model.m.rotary(input, {.heads = 2,
                                                  .cos = model.input("cos2", of_rows, row_cos),
                                                  .sin = model.input("sin2", of_rows, row_sin)});
  const Array expected = naive::rotary(x, 2, 4, false, angle);
  const auto first_batch = [&](int64_t row, int64_t pair) { return angle(row % 3, pair); };
  model.expect({{by_position, expected},
                {by_table, expected},
                {by_rows, naive::rotary(x, 2, 4, false, first_batch)}});
}

}  // namespace
}  // namespace tenon::hir_test
