// Errors that the values of variables decide: they are of the call that makes them, although what
// is compiled would hold for other values. And shapes that are larger than anything can be.
#include <gtest/gtest.h>

#include "tenon/lazy_tensor.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

const Variable& n() {
  static const Variable kVariable("n", 0, 1024);
  return kVariable;
}
const Variable& m() {
  static const Variable kVariable("m", 0, 1024);
  return kVariable;
}
Tensor ones(const Extents& shape) { return Tensor::ones(shape); }

struct Case {
  const char* error;
  void (*call)();
};

// Nothing is realized here.
const Case kCases[] = {
    {"[index] axis 0 slice leaves the tensor: f32[50]: needs n + 1 <= 50, but has 101 and 50",
     [] { ones({50})[n().bind(100)]; }},
    {"[shrink] axis 0 slice leaves the tensor: f32[50]: needs 0 <= m - n, but has 0 and -2",
     [] { ones({50}).shrink({{n().bind(7), m().bind(5)}}); }},
    {"[reshape] element counts with [n, 10]: f32[50]: needs 50 == n*10, but has 50 and 70",
     [] { ones({50}).reshape({n().bind(7), 10}); }},
    {"[add] broadcast extents: f32[n] x f32[m]: needs n broadcasts with m, but has 3 and 4",
     [] { ones({n().bind(3)}) + ones({m().bind(4)}); }},
    {"[add] broadcast extents: f32[n] x f32[4]: needs n broadcasts with 4, but has 3 and 4",
     [] { ones({n().bind(3)}) + ones({4}); }},
    {"[matmul] inner extents: f32[2, n] x f32[4, 2]: needs n == 4, but has 3 and 4",
     [] { ones({2, n().bind(3)}).matmul(ones({4, 2})); }},
    {"[concat] extents of axis 1: f32[1, n] x f32[1, 4]: needs n == 4, but has 3 and 4",
     [] { Tensor::concat({ones({1, n().bind(3)}), ones({1, 4})}); }},
    {"[expand] extents with the target [n]: f32[3]: needs 3 == n, but has 3 and 4",
     [] { ones({3}).expand({n().bind(4)}); }},
    {"[max] there is no element: f32[n]", [] { ones({n().bind(0)}).max(); }},
    {"[argmax] there is no element to choose: f32[n]: needs 1 <= n, but has 1 and 0",
     [] { ones({n().bind(0)}).argmax(0); }},
    {"[topk] k is more than there are: f32[n] x i64[]: needs 4 <= n, but has 4 and 3",
     [] { ones({n().bind(3)}).topk(4); }},
    {"[conv] the window is larger than the image: f32[1, 1, n]",
     [] { ones({1, 1, n().bind(2)}).conv(ones({1, 1, 3})); }},
    {"[ones] the result has more bytes than there can be: f32[1099511627776, 1099511627776]",
     [] { ones({int64_t{1} << 40, int64_t{1} << 40}); }},
    {"[repeat] dimension arithmetic overflows", [] { ones({2, 3}).repeat({int64_t{1} << 62, 1}); }},
    {"[pad] the result has more bytes than there can be: f32[4611686018427387906, 3]",
     [] { ones({2, 3}).pad({{int64_t{1} << 62, 0}, {0, 0}}); }},
    {"[ones] the result has more bytes than there can be: f32[h, 1073741824]",
     [] {
       Variable h("h", 1, int64_t{1} << 40);
       ones({h.bind(int64_t{1} << 40), int64_t{1} << 30});
     }},
};

TEST(Values, DecideErrorsOfTheCall) {
  for (const Case& each : kCases) EXPECT_EQ(user_error_of(each.call), each.error);
}

TEST(Values, OfTheOtherExtentsOfNothingMayBeLarge) {
  const Tensor nothing = ones({int64_t{1} << 40, int64_t{1} << 40, 0});
  EXPECT_EQ(nothing.realize().extents().back(), 0);
}

// What nobody gave a value, and what a plan computes, is left to the run.
TEST(Values, ThatAreNotKnownDecideNothing) {
  const Tensor open = ones({Extent(n())}) + ones({4});
  EXPECT_EQ(open.rank(), 1);
  Tensor rows = ones({50})[Slice{.stop = n().bind(3)}] * 2.0;
  ExecutionPlan plan = rows.prepare();
  plan.execute();
  Tensor sum = rows + ones({4});
  EXPECT_NE(user_error_of([&] { sum.realize(); }).find("broadcast"), std::string::npos);
  plan.execute_with_vars({{"n", 4}});
  EXPECT_EQ(sum.realize().as_vec<float>(), std::vector<float>(4, 3));
}

}  // namespace
}  // namespace tenon
