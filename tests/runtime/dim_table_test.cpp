// DimTable against Dim::evaluate, on expressions of every kind.
#include "runtime/dim_table.h"

#include <gtest/gtest.h>

#include <random>

namespace tenon::runtime {
namespace {

const Symbol kA("a", {1, 1000}), kB("b", {1, 1000});

Dim random_dim(std::mt19937& random, int depth) {
  if (depth == 0) {
    switch (random() % 3) {
      case 0:
        return kA;
      case 1:
        return kB;
      default:
        return static_cast<int64_t>(random() % 20) - 5;
    }
  }
  const Dim x = random_dim(random, depth - 1), y = random_dim(random, depth - 1);
  switch (random() % 6) {
    case 0:
      return x + y;
    case 1:
      return x - y;
    case 2:
      return x * y;
    case 3:
      return floordiv(x, static_cast<int64_t>(random() % 9) + 1);
    case 4:
      return min(x, y);
    default:
      return max(x, y);
  }
}

TEST(DimTable, GivesTheValuesOfTheDims) {
  std::mt19937 random(1);
  const Variables variables = {{"a", 0}, {"b", 1}};
  for (int round = 0; round < 300; ++round) {
    std::vector<Dim> dims;
    for (int i = 0; i < 10; ++i) dims.push_back(random_dim(random, 1 + i % 4));
    DimTable table(variables);
    std::vector<int> positions;
    for (const Dim& dim : dims) positions.push_back(table.add(dim));
    for (int64_t a : {1, 7, 64}) {
      const int64_t values[] = {a, a * 3 % 11};
      ASSERT_TRUE(table.evaluate(values));
      for (size_t i = 0; i < dims.size(); ++i) {
        const auto expected = dims[i].evaluate([&](const Symbol& s) -> std::optional<int64_t> {
          return s == kA ? values[0] : values[1];
        });
        EXPECT_EQ(table[positions[i]], expected.value()) << dims[i].to_string();
      }
    }
  }
}

TEST(DimTable, SaysWhichSymbolItDoesNotKnow) {
  const Variables variables = {{"a", 0}};
  DimTable table(variables);
  table.add(Dim(kA) + kB);
  EXPECT_EQ(table.unknown_symbol(), "b");
}

TEST(DimTable, OverflowAndDivisionByZeroFail) {
  const Variables variables = {{"a", 0}, {"b", 1}};
  DimTable product(variables);
  product.add(Dim(kA) * kA * kA);
  const int64_t large[] = {int64_t{1} << 40, 1};
  EXPECT_FALSE(product.evaluate(large));
  DimTable quotient(variables);
  quotient.add(floordiv(Dim(kA), Dim(kB)));
  const int64_t zero[] = {1, 0};
  EXPECT_FALSE(quotient.evaluate(zero));
}

}  // namespace
}  // namespace tenon::runtime
