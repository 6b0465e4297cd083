// What random graphs have found, made small: each was wrong once.
#include <gtest/gtest.h>

#include "tools/replay/compare.h"

namespace tenon::replay {
namespace {

struct Found {
  const char *what, *text;
};

constexpr Found kFound[] = {
    {"a late output is a part of one that is the caller's", R"(case seed=178 special=1 s=1
graph
symbol part.0 0..9223372036854775807
symbol part.1 0..9223372036854775807
symbol s 1..200
require equal(s, part.0 + part.1) "x"
input %x5 : i64[2]
input %c : i64[1, s, 1]
%0 = mul(%c, %c) : i64[1, s, 1]
%1 = dims() {scalar = 0, values = [floordiv(s, 2), s - floordiv(s, 2)]} : i64[2]
%2 = constant(0) : i64[]
%3 = mul(%x5, %2) : i64[2]
%4 = add(%1, %3) : i64[2]
%5, %6 = split(%0, %4) {axis = 1, extents = [part.0, part.1]} : i64[1, part.0, 1], i64[1, part.1, 1]
%7, %8 = split(%0) {axis = 0, extents = [0, 1]} : i64[0, s, 1], i64[1, s, 1]
output "y0" = %6
output "y1" = %8
)"},
    {"a product that is no tile reads a turned operand", R"(case seed=81 b=1 s=1 t=1
graph
symbol b 1..200
symbol s 1..200
input %cut0.0 : f64[1, 12]
input %cut1.0 : f64[1, s, 4]
input %cut2.0 : f64[1, s, 4]
input %cut3.0 : i64[s]
input %cut4.0 : f64[1, 32]
input %cut5.0 : f64[1, 16, 4]
input %cut6.0 : f64[1, 16, 1]
input %cut7.0 : f64[b, s, 1]
%0, %1, %2 = recurrent(%cut7.0, %cut6.0, %cut5.0, %cut4.0, %cut3.0, %cut2.0, %cut1.0, %cut0.0) {activations = "relu,tanh,scaledtanh", alpha = [0.25, 0.25, 0.25], beta = [0.5, 0.5, 0.5], cell = "lstm", direction = "reverse", input_forget = 0} : f64[b, 1, s, 4], f64[1, s, 4], f64[1, s, 4]
output "y" = %0
)"},
    {"the result of a define is an output", R"(case seed=5
graph
symbol n 0..9
input %x : i64[1]
%0 = define(%x) {symbols = [n]} : i64[1]
output "y" = %0
)"},
    {"a step names an extent that an earlier one has defined", R"(case seed=1000065
graph
symbol n 0..9
symbol cut 0..9
input %count : i64[1]
input %start : i64[1]
input %end : i64[1]
input %x : bf16[1]
%0 = define(%count) {symbols = [n]} : i64[1]
%1 = expand(%x) {shape = [n, 1]} : bf16[n, 1]
%2 = constant(1) : i64[1]
%3 = constant(2) : i64[1]
%4 = slice_to(%1, %start, %end, %2, %3) {shape = [n, cut]} : bf16[n, cut]
output "y" = %4
)"},
    {"a body has an extent that is part of an expression", R"(case seed=82 b=5
graph
symbol b 1..200
symbol trips 0..9223372036854775807
input %x : f32[b]
input %y : f32[floordiv(b + 1, 2)]
input %count : i64[]
%0 = constant(1) : bool[]
%1, %2 = loop(%count, %0, %y, %y) {body = graph {
  symbol b 1..200
  input %trip : i64[]
  input %going : bool[]
  input %carried : f32[floordiv(b + 1, 2)]
  input %other : f32[floordiv(b + 1, 2)]
  %0 = add(%carried, %other) : f32[floordiv(b + 1, 2)]
  output "y0" = %going
  output "y1" = %0
  output "y2" = %0
}, carried = 1, extents = [floordiv(b + 1, 2), trips, floordiv(b + 1, 2)]} : f32[floordiv(b + 1, 2)], f32[trips, floordiv(b + 1, 2)]
output "y" = %1
)"},
    {"margins take more than there is: an error on both sides", R"(case seed=1 s=1
graph
symbol s 1..200
input %x : i64[s, 3]
%0 = constant(-1, 0, -1, 0) : i64[4]
%1 = constant(0, 1) : i64[2]
%2 = pad(%x, %0, %1) {mode = "constant", shape = [s - 2, 3]} : i64[s - 2, 3]
output "y" = %2
)"},
    {"regions of an image without elements: an error on both sides", R"(case seed=17 s=2 t=0
graph
symbol s 1..200
symbol t 0..200
input %x : f32[17, 1, t, 3]
input %of : i64[s]
input %regions : f32[s, 4]
%0 = roi_align(%x, %regions, %of) {extents = [3, 3], half_pixel = 1, mode = "max", samples = 0, scale = 2} : f32[s, 1, 3, 3]
output "y" = %0
)"},
    {"elements of an axis that is empty: an error on both sides", R"(case seed=1 s=3 t=0
graph
symbol s 1..200
symbol t 0..200
input %x : f32[t, s, 2000]
input %at : i64[2]
%0 = gather(%x, %at) {axis = 0} : f32[2, s, 2000]
output "y" = %0
)"},
    {"updates of an axis that is empty: an error on both sides", R"(case seed=1 s=3 t=0
graph
symbol s 1..200
symbol t 0..200
input %x : f32[t, s, 2000]
input %at : i64[2, s, 2000]
input %updates : f32[2, s, 2000]
%0 = scatter_elements(%x, %at, %updates) {axis = 0, reduction = "max"} : f32[t, s, 2000]
output "y" = %0
)"},
    {"a convolution has no positions", R"(case seed=356 b=3
graph
symbol b 1..200
input %x : f32[5, 2, 1, b]
input %w : f32[10, 1, 3, 1]
%0 = conv(%x, %w) {begins = [1, 0], dilations = [1, 1], extents = [0, b], groups = 2, strides = [2, 1]} : f32[5, 10, 0, b]
output "y" = %0
)"},
    {"a guard tells lanes apart where the address does not", R"(case seed=54 b=1
graph
symbol b 1..200
input %x : f64[1, 1, b, 1]
input %w : f64[1, 1, 3, 3]
%0 = conv_transpose(%x, %w) {begins = [2, 1], dilations = [1, 1], extents = [b + 1, 2], groups = 1, strides = [1, 2]} : f64[1, 1, b + 1, 2]
output "y" = %0
)"},
    {"a pool has no positions, and its result is read", R"(case seed=47 s=1
graph
symbol s 1..200
input %x : f32[s, 2, 2]
%0, %1 = max_pool(%x) {begins = [2], column_major = 0, dilations = [2], extents = [0], kernel = [3], strides = [1]} : f32[s, 2, 0], i64[s, 2, 0]
%2 = reduce_sum(%0) {axes = [2]} : f32[s, 2, 1]
output "y" = %2
)"},
    {"a grid over an image without elements: an error on both sides", R"(case seed=1 t=0
graph
symbol t 0..200
input %x : f32[5, 1, t]
input %grid : f32[5, 3, 1]
%0 = grid_sample(%x, %grid) {align_corners = 1, mode = "nearest", padding = "border"} : f32[5, 1, 3]
output "y" = %0
)"},
    {"a value is a late output and a caller's", R"(case seed=10791 b=1
graph
symbol b 1..200
symbol reshaped.0 0..9223372036854775807
symbol reshaped.1 0..9223372036854775807
symbol reshaped.2 0..9223372036854775807
symbol reshaped.3 0..9223372036854775807
input %axes : i64[1]
input %x : f32[b, 4, 1]
%0 = equal(%x, %x) : bool[b, 4, 1]
%1 = reshape_to(%0, %axes) {mode = "unsqueeze", shape = [reshaped.0, reshaped.1, reshaped.2, reshaped.3]} : bool[reshaped.0, reshaped.1, reshaped.2, reshaped.3]
%2 = reshape(%0) {shape = [b, 4, 1, 1]} : bool[b, 4, 1, 1]
output "late" = %1
output "callers" = %2
)"},
    {"a value is a late output and a part of a caller's", R"(case seed=10012 t=1
graph
symbol reshaped.0 0..9223372036854775807
symbol t 0..200
input %x : f32[2]
input %y : f32[t]
input %shape : i64[1]
%0 = exp(%x) : f32[2]
%1 = reshape_to(%0, %shape) {mode = "exact", shape = [reshaped.0]} : f32[reshaped.0]
%2 = concat(%0, %y) {axis = 0} : f32[t + 2]
output "late" = %1
output "callers" = %2
)"},
    {"an output is a view of what a define names, an input", R"(case seed=1142
graph
symbol given.3 0..9223372036854775807
symbol reshaped.4 0..9223372036854775807
symbol reshaped.5 0..9223372036854775807
input %axes : i64[1]
input %x : i64[1]
%0 = define(%x) {symbols = [given.3]} : i64[1]
%1 = reshape_to(%0, %axes) {mode = "unsqueeze", shape = [reshaped.4, reshaped.5]} : i64[reshaped.4, reshaped.5]
output "y" = %1
)"},
    {"a deformed convolution of an image without elements", R"(case seed=2349 s=1 t=0
graph
symbol s 1..200
symbol t 0..200
input %x : f32[s, 4, t, 5]
input %mask : f32[s, 12, t + 1, 6]
input %offsets : f32[s, 24, t + 1, 6]
param %w : f32[4, 2, 3, 2]
%0 = deform_conv(%x, %w, %offsets, %mask) {begins = [1, 1], dilations = [1, 1], groups = 2, offset_groups = 2, strides = [1, 1]} : f32[s, 4, t + 1, 6]
output "y" = %0
)"},
    {"nothing is resized to something: an error on both sides", R"(case seed=1 t=0
graph
symbol resized.1 0..9223372036854775807
symbol t 0..200
input %x : i64[t, 3]
input %sizes : i64[1]
%0 = resize(%x, %sizes) {antialias = 0, coordinates = "align_corners", cubic = -0.75, exclude_outside = 0, mode = "nearest", order = [0], outside = 0.5, policy = "not_smaller", rounding = "ceil", shape = [resized.1, 3]} : i64[resized.1, 3]
output "y" = %0
)"},
    {"weights know an extent that the other operand only names", R"(case seed=1 k=4 n=3
graph
symbol k 1..200
symbol n 1..200
require equal(k, 4) "inner extents"
input %x : f32[n, k]
param %w : f32[4, 5]
%0 = matmul(%x, %w) : f32[n, 5]
output "y" = %0
)"},
    {"broadcast, one after the other, of extents that may be 0", R"(case seed=1 a=1 b=1 c=31
graph
symbol a 0..200
symbol b 0..200
symbol c 0..200
input %x : f32[a]
input %y : f32[b]
input %z : f32[c]
%0 = min(%y, %x) : f32[max(a, b)*min(1, min(a, b))]
%1 = max(%0, %z) : f32[max(c, max(a, b)*min(1, min(a, b)))*min(1, min(c, max(a, b)*min(1, min(a, b))))]
%2 = max(%1, %x) : f32[max(c, max(a, b)*min(1, min(a, b)))*min(1, min(c, max(a, b)*min(1, min(a, b))))]
output "y" = %2
)"},
    {"a function of a steep one", R"(case seed=10668 b=5 s=4
graph
symbol b 1..200
symbol s 1..200
input %x : f32[s, 5, b]
input %w : f32[s, b, 17]
%0 = matmul(%x, %w) : f32[s, 5, 17]
%1 = cosh(%0) : f32[s, 5, 17]
%2 = cos(%1) : f32[s, 5, 17]
output "y" = %2
)"},
};

TEST(Found, StaysFixed) {
  for (const Found& found : kFound) {
    SCOPED_TRACE(found.what);
    const Outcome outcome = compare(parse_case(found.text), cpu());
    EXPECT_EQ(outcome.verdict, Verdict::Same) << outcome.message;
  }
}

}  // namespace
}  // namespace tenon::replay
