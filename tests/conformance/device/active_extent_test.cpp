// A bucket of which a part is active, on every device: what comes out is what a graph compiled for
// that part gives, whatever mixes the rows, and the rows past it stay what they were.
#include <algorithm>
#include <cmath>

#include "tests/conformance/device/subject.h"

namespace tenon::device_test {
namespace {

using Floats = std::vector<float>;

constexpr int64_t kUpper = 16, kWidth = 8;

Floats numbers(int64_t count, int64_t seed) {
  Floats result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(static_cast<float>((i * 37 + seed * 11) % 29) / 29.F - 0.5F);
  return result;
}

class DeviceActiveExtent : public DeviceSuite {
 protected:
  static Value weight(Graph& g, const std::string& name) {
    const Floats values = numbers(kWidth * kWidth, name[0]);
    return g.param(name, {{kWidth, kWidth}, DType::F32}, std::as_bytes(std::span(values)));
  }
  static Graph layer(int64_t rows) {
    Graph g;
    const Value x = g.input("x", {{rows, kWidth}, DType::F32}, {.bucket_axis = 0});
    const Value product = g.gelu(g.matmul(x, weight(g, "w")));
    const Value three = g.reshape(product, {1, rows, kWidth});
    const Value seen = g.attention(three, three, three, {.heads = 2, .head_dim = kWidth / 2});
    const Value y = g.add(x, g.reshape(seen, {rows, kWidth}));
    g.set_outputs({{"y", y},
                   {"mean", g.reduce_mean(x, {0})},
                   {"chances", g.softmax(x, 0)},
                   {"pooled", g.reduce_max(g.matmul(y, weight(g, "v")), {0})},
                   {"gram", g.matmul(g.transpose(x, {1, 0}), x)}});
    return g;
  }
};

TEST_P(DeviceActiveExtent, GivesWhatAGraphForTheActiveRowsDoes) {
  CompiledGraph bucket = compile(layer(kUpper));
  EXPECT_EQ(bucket.active_extent_report().fallback, "");
  const Floats warm = numbers(kUpper * kWidth, 1);
  auto before = bucket.run({{"x", warm}});
  for (const int64_t rows : {5, 16, 1, 11}) {
    SCOPED_TRACE(rows);
    const Floats x = numbers(rows * kWidth, rows);
    const NamedInputs inputs = {{"x", view(x, {rows, kWidth})}};
    const auto expected = compile(layer(rows)).run(inputs);
    bucket.set_active_extent(rows, kUpper);
    const auto got = bucket.run(inputs);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      Floats whole = before[i];  // the rows past the active ones
      std::ranges::copy(expected[i], whole.begin());
      expect(got[i], whole);
    }
    before = got;
  }
}

TEST_P(DeviceActiveExtent, CountsOnlyTheActiveRows) {
  CompiledGraph bucket = compile(layer(kUpper));
  bucket.set_active_extent(4, kUpper);
  Floats x(kUpper * kWidth, NAN);  // nobody reads what is past the active rows
  for (const int row : {0, 1, 2, 3})
    std::fill_n(x.begin() + row * kWidth, kWidth, static_cast<float>(row));
  const auto got = bucket.run({{"x", view(x, {kUpper, kWidth})}});
  expect(got[1], Floats(kWidth, 1.5F));           // (0 + 1 + 2 + 3) / 4
  expect(got[4], Floats(kWidth * kWidth, 14.F));  // 0 + 1 + 4 + 9
  Floats chances(kUpper * kWidth, 0);             // as before the first run
  for (size_t i = 0; i < 4 * kWidth; ++i) {
    const float sum = 1 + std::exp(1.F) + std::exp(2.F) + std::exp(3.F);
    chances[i] = std::exp(x[i]) / sum;
  }
  expect(got[2], chances);
}

TEST_P(DeviceActiveExtent, EndsWhenItIsCleared) {
  CompiledGraph bucket = compile(layer(kUpper));
  const Floats x = numbers(kUpper * kWidth, 3);
  const auto whole = bucket.run({{"x", x}});
  bucket.set_active_extent(3, kUpper);
  bucket.run({{"x", Floats(3 * kWidth, 1)}});
  expect_refused([&] { bucket.set_active_extent(kUpper + 1, kUpper); }, "17");
  expect_refused([&] { bucket.set_active_extent(3, kUpper + 1); }, "17");
  bucket.clear_active_extent();
  const auto again = bucket.run({{"x", x}});
  for (size_t i = 0; i < whole.size(); ++i) expect(again[i], whole[i]);
  expect_refused([&] { bucket.run({{"x", view(x, {3, kWidth})}}); }, "\"x\"");
}

TENON_ON_EVERY_DEVICE(DeviceActiveExtent);

}  // namespace
}  // namespace tenon::device_test
