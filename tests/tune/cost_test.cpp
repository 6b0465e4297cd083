// What candidates cost: counted by hand.
#include "tune/cost.h"

#include <gtest/gtest.h>

namespace tenon::tune {
namespace {

// Per thread: 4 copies of a vector of load, add with a constant, store; 3 loops of that.
constexpr const char* kUnrolled = R"(kernel k scheduled dims m: 1..65536
  buffer x: f32[m*192] global argument 0
  buffer y: f32[m*192] global argument 1 written
  thread t in m
    loop i in 3
      unroll u in 4
        vector l in 16
          y[i*64 + l + t*192 + u*16] = add(x[i*64 + l + t*192 + u*16], f32(1))
)";

TEST(Cost, CountsCopiesOfUnrolledLoops) {
  const Cost cost = cost_of(kernel::parse(kUnrolled), {{"m", 10}});
  EXPECT_EQ(cost.code, 4 * 4);  // load, constant, add, store
  EXPECT_EQ(cost.work, 10 * 3 * 4 * 4);
  EXPECT_EQ(largest_kinds(cost), "add 4, const 4, load 4");
}

}  // namespace
}  // namespace tenon::tune
