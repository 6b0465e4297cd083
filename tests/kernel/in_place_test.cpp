// Which operands a result may overwrite: those read only where the result is written.
#include "kernel/in_place.h"

#include <gtest/gtest.h>

namespace tenon::kernel {
namespace {

using Pairs = std::vector<std::pair<int, int>>;

Pairs pairs(const std::string& body, const char* other = "f32[n]") {
  return in_place_pairs(
      parse("kernel k scheduled dims n: 1..1000\n  buffer a: f32[n] global argument 0\n"
            "  buffer b: " +
            std::string(other) +
            " global argument 1\n"
            "  buffer y: f32[n] global argument 2 written\n"
            "  buffer r: f32[1] register\n"
            "  thread t in n\n" +
            body));
}

TEST(InPlace, AnOperandReadAtTheSameElement) {
  EXPECT_EQ(pairs("    y[t] = add(a[t], b[t])\n"), (Pairs{{2, 0}, {2, 1}}));
}

TEST(InPlace, NotOneReadAtAnotherElement) {
  EXPECT_EQ(pairs("    y[t] = add(a[t], b[n - t - 1])\n"), (Pairs{{2, 0}}));
  EXPECT_EQ(pairs("    y[t] = add(b[t], add(a[t], b[0]))\n"), (Pairs{{2, 0}}));
  EXPECT_EQ(pairs("    y[t] = reduce_add(k in n, a[k])\n"), Pairs{});
}

TEST(InPlace, NotOneReadByAnotherStatement) {
  EXPECT_EQ(pairs("    r[0] = a[t]\n    y[t] = add(r[0], b[t])\n"), (Pairs{{2, 1}}));
}

TEST(InPlace, NotOneOfAnotherSize) {
  EXPECT_EQ(pairs("    y[t] = add(a[t], b[t])\n", "f32[n + 1]"), (Pairs{{2, 0}}));
  EXPECT_EQ(pairs("    y[t] = add(a[t], cast(f32, b[t]))\n", "i64[n]"), (Pairs{{2, 0}}));
}

}  // namespace
}  // namespace tenon::kernel
