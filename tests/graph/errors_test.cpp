// Programs that must fail: each wrong call is a User error that names the op and shows the shapes.
#include <gtest/gtest.h>

#include "tests/graph/tensors.h"

namespace tenon::graph {
namespace {

struct Fixture {
  Graph g;
  Value a = g.input("a", {{4, 8}, DType::F32});
  Value b = g.input("b", {{9, 2}, DType::F32});
  Value half = g.input("half", {{4, 8}, DType::F16});
  Value ints = g.input("ints", {{4, 8}, DType::I64});
  Value flags = g.input("flags", {{4, 8}, DType::Bool});
  Value vector = g.input("vector", {{8}, DType::F32});
  Value scalar = g.input("scalar", {{}, DType::F32});
  Value cube = g.input("cube", {{2, 4, 8}, DType::F32});
};

struct Case {
  const char* message;
  std::function<void(Fixture&)> call;
};

const Case kCases[] = {
    {"User [matmul] inner extents differ: f32[4, 8] x f32[9, 2]",
     [](Fixture& f) { f.g.matmul(f.a, f.b); }},
    {"User [matmul] operands have different dtypes (cast one of them): f32[4, 8] x f16[4, 8]",
     [](Fixture& f) { f.g.matmul(f.a, f.half); }},
    {"User [matmul] a scalar is no matrix: f32[4, 8] x f32[]",
     [](Fixture& f) { f.g.matmul(f.a, f.scalar); }},
    {"Unsupported [matmul] operands of one axis must be reshaped to two: f32[4, 8] x f32[8]",
     [](Fixture& f) { f.g.matmul(f.a, f.vector); }},
    {"User [matmul] has no meaning for bool: bool[4, 8] x bool[4, 8]",
     [](Fixture& f) { f.g.matmul(f.flags, f.flags); }},
    {"User [add] extents 4 and 9 do not broadcast: f32[4, 8] x f32[9, 2]",
     [](Fixture& f) { f.g.add(f.a, f.b); }},
    {"User [add] operands have different dtypes, f32 and f16 (cast one of them): f32[4, 8] x "
     "f16[4, 8]",
     [](Fixture& f) { f.g.add(f.a, f.half); }},
    {"User [mul] has no meaning for bool: bool[4, 8] x bool[4, 8]",
     [](Fixture& f) { f.g.mul(f.flags, f.flags); }},
    {"User [neg] has no meaning for bool: bool[4, 8]",
     [](Fixture& f) { f.g.unary(Op::Neg, f.flags); }},
    {"User [exp] needs a floating-point operand: i64[4, 8]",
     [](Fixture& f) { f.g.unary(Op::Exp, f.ints); }},
    {"User [not] needs bool operands: f32[4, 8]", [](Fixture& f) { f.g.unary(Op::Not, f.a); }},
    {"User [where] the condition must be bool: f32[4, 8] x f32[4, 8] x f32[4, 8]",
     [](Fixture& f) { f.g.apply(Op::Where, {f.a, f.a, f.a}); }},
    {"User [reshape] element counts with [5, 7] differ: f32[4, 8]",
     [](Fixture& f) { f.g.reshape(f.a, {5, 7}); }},
    {"User [reshape] extent -1 is negative: f32[4, 8]", [](Fixture& f) { f.g.reshape(f.a, {-1}); }},
    {"User [transpose] perm [0, 0] is not a permutation of the axes: f32[4, 8]",
     [](Fixture& f) { f.g.transpose(f.a, {0, 0}); }},
    {"User [transpose] perm [0] is not a permutation of the axes: f32[4, 8]",
     [](Fixture& f) { f.g.transpose(f.a, {0}); }},
    {"User [expand] extents with the target [4, 9] differ: f32[4, 8]",
     [](Fixture& f) { f.g.expand(f.a, {4, 9}); }},
    {"User [expand] extents with the target [8] has too many axes: f32[4, 8]",
     [](Fixture& f) { f.g.expand(f.a, {8}); }},
    {"User [slice] axis 1 slice leaves the tensor (9 is more than 8): f32[4, 8]",
     [](Fixture& f) { f.g.slice(f.a, {0, 5}, {4, 4}, {1, 1}); }},
    {"User [slice] axis 0 slice leaves the tensor (0 is more than -1): f32[4, 8]",
     [](Fixture& f) { f.g.slice(f.a, {-1, 0}, {1, 8}, {1, 1}); }},
    {"User [slice] step 0 is not allowed: f32[4, 8]",
     [](Fixture& f) { f.g.slice(f.a, {0, 0}, {4, 8}, {0, 1}); }},
    {"User [slice] starts, extents and steps must have one entry per axis: f32[4, 8]",
     [](Fixture& f) { f.g.slice(f.a, {0}, {4}, {1}); }},
    {"User [concat] extents of axis 0 differ: f32[4, 8] x f32[9, 2]",
     [](Fixture& f) { f.g.concat({f.a, f.b}, 1); }},
    {"User [concat] parts have different ranks: f32[4, 8] x f32[8]",
     [](Fixture& f) { f.g.concat({f.a, f.vector}, 0); }},
    {"User [concat] parts have different dtypes (cast them): f32[4, 8] x f16[4, 8]",
     [](Fixture& f) { f.g.concat({f.a, f.half}, 0); }},
    {"User [concat] axis 2 is out of range: f32[4, 8]", [](Fixture& f) { f.g.concat({f.a}, 2); }},
    {"User [concat] does not take 0 operands", [](Fixture& f) { f.g.concat({}, 0); }},
    {"User [split] axis 1 and the sum of the parts, 7, differ: f32[4, 8]",
     [](Fixture& f) { f.g.split(f.a, 1, {3, 4}); }},
    {"User [split] needs at least one part: f32[4, 8]", [](Fixture& f) { f.g.split(f.a, 1, {}); }},
    {"User [split] a part has a negative extent (0 is more than -1): f32[4, 8]",
     [](Fixture& f) { f.g.split(f.a, 1, {9, -1}); }},
    {"User [reduce_sum] axis 2 is out of range: f32[4, 8]",
     [](Fixture& f) { f.g.reduce(Op::ReduceSum, f.a, {2}); }},
    {"User [reduce_sum] an axis is named twice: f32[4, 8]",
     [](Fixture& f) { f.g.reduce(Op::ReduceSum, f.a, {1, -1}); }},
    {"User [reduce_mean] needs a floating-point operand: i64[4, 8]",
     [](Fixture& f) { f.g.reduce(Op::ReduceMean, f.ints, {0}); }},
    {"User [add] is no reduction", [](Fixture& f) { f.g.reduce(Op::Add, f.a, {0}); }},
    {"User [gather] indices must be i32 or i64: f32[4, 8] x f32[8]",
     [](Fixture& f) { f.g.gather(f.a, f.vector, 0); }},
    {"User [gather] axis 0 is out of range: f32[]",
     [](Fixture& f) { f.g.gather(f.scalar, f.ints, 0); }},
    {"User [softmax] needs a floating-point operand: i64[4, 8]",
     [](Fixture& f) { f.g.softmax(f.ints, 0); }},
    {"User [layer_norm] last extent and scale differ: f32[9, 2] x f32[8] x f32[8]",
     [](Fixture& f) { f.g.layer_norm(f.b, f.vector, f.vector, 1e-5); }},
    {"User [layer_norm] scale and bias must have one axis: f32[4, 8] x f32[4, 8] x f32[8]",
     [](Fixture& f) { f.g.layer_norm(f.a, f.a, f.vector, 1e-5); }},
    {"User [layer_norm] epsilon is negative: f32[4, 8] x f32[8] x f32[8]",
     [](Fixture& f) { f.g.layer_norm(f.a, f.vector, f.vector, -1); }},
    {"User [linear] inner extents differ: f32[4, 8] x f32[9, 2]",
     [](Fixture& f) { f.g.linear(f.a, f.b, {}, {}, Activation::None); }},
    {"User [linear] needs x of two axes or more, and w of two: f32[8] x f32[9, 2]",
     [](Fixture& f) { f.g.linear(f.vector, f.b, {}, {}, Activation::None); }},
    {"User [linear] columns and bias differ: f32[2, 4, 8] x f32[8, 2] x f32[8]",
     [](Fixture& f) {
       f.g.linear(f.cube, f.g.param("w", {{8, 2}, DType::F32}), f.vector, {}, Activation::None);
     }},
    {"User [linear] residual must have the rank of the result: f32[4, 8] x f32[8, 2] x f32[8]",
     [](Fixture& f) {
       f.g.linear(f.a, f.g.param("w", {{8, 2}, DType::F32}), {}, f.vector, Activation::None);
     }},
    {"User [linear] activation \"swish\" is unknown: f32[4, 8] x f32[9, 2]",
     [](Fixture& f) { f.g.apply(Op::Linear, {f.a, f.b}, {{"activation", "swish"}}); }},
    {"User [linear] bias = 1, residual = 0 and row_scale = 0 do not fit the number of operands: "
     "f32[4, 8] x f32[9, 2]",
     [](Fixture& f) { f.g.apply(Op::Linear, {f.a, f.b}, {{"bias", 1}}); }},
    {"User [attention] q, k and v need three axes: f32[4, 8] x f32[4, 8] x f32[4, 8]",
     [](Fixture& f) { f.g.attention(f.a, f.a, f.a, {.heads = 2, .head_dim = 4}); }},
    {"User [attention] last extent of q and heads * head_dim differ: f32[2, 4, 8] x f32[2, 4, 8] x "
     "f32[2, 4, 8]",
     [](Fixture& f) { f.g.attention(f.cube, f.cube, f.cube, {.heads = 2, .head_dim = 5}); }},
    {"User [attention] 3 heads are no multiple of 2 kv_heads: f32[2, 4, 8] x f32[2, 4, 8] x f32[2, "
     "4, 8]",
     [](Fixture& f) {
       f.g.attention(f.cube, f.cube, f.cube, {.heads = 3, .head_dim = 4, .kv_heads = 2});
     }},
    {"User [attention] heads = 0 is not allowed: f32[2, 4, 8] x f32[2, 4, 8] x f32[2, 4, 8]",
     [](Fixture& f) { f.g.attention(f.cube, f.cube, f.cube, {.heads = 0}); }},
    {"User [attention] mask and score extents differ: f32[2, 4, 8] x f32[2, 4, 8] x f32[2, 4, 8] x "
     "f32[4, 8]",
     [](Fixture& f) {
       f.g.attention(f.cube, f.cube, f.cube, {.heads = 2, .head_dim = 4, .mask = f.a});
     }},
    {"User [cast] needs the attribute \"dtype\"", [](Fixture& f) { f.g.apply(Op::Cast, {f.a}); }},
    {"User [relu] has no attribute \"alpha\"",
     [](Fixture& f) { f.g.apply(Op::Relu, {f.a}, {{"alpha", 1.0}}); }},
    {"User [softmax] attribute \"axis\" has the wrong type",
     [](Fixture& f) { f.g.apply(Op::Softmax, {f.a}, {{"axis", 1.0}}); }},
    {"User [add] an operand is empty", [](Fixture& f) { f.g.add(f.a, {}); }},
    {"User [add] does not take 1 operands", [](Fixture& f) { f.g.apply(Op::Add, {f.a}); }},
    {"User [add] an operand belongs to another context",
     [](Fixture& f) {
       Graph other;
       f.g.add(f.a, other.input("x", {{4, 8}, DType::F32}));
     }},
    {"User [input] is a leaf and has its own builder",
     [](Fixture& f) { f.g.apply(Op::Input, {}); }},
    {"User [input] the name \"a\" is taken by an input or parameter",
     [](Fixture& f) { f.g.input("a", {}); }},
    {"User [param] the name \"a\" is taken by an input or parameter",
     [](Fixture& f) { f.g.param("a", {}); }},
    {"User [input] needs a name", [](Fixture& f) { f.g.input("", {}); }},
    {"User [input] \"n\" has a negative extent: f32[-3]",
     [](Fixture& f) { f.g.input("n", {{-3}, DType::F32}); }},
    {"User [input] symbol seq has bounds 1..8 here and 1..9 before",
     [](Fixture& f) {
       f.g.input("s", {{Symbol("seq", {1, 9})}, DType::F32});
       f.g.input("t", {{Symbol("seq", {1, 8})}, DType::F32});
     }},
    {"User [param] \"w\" has 4 bytes of data, which do not fill f32[2]",
     [](Fixture& f) {
       const std::byte bytes[4] = {};
       f.g.param("w", {{2}, DType::F32}, {bytes, nullptr});
     }},
    {"User [param] \"w\" has data, so its extents must be constants: f32[seq]",
     [](Fixture& f) {
       const std::byte bytes[4] = {};
       f.g.param("w", {{sym::seq()}, DType::F32}, {bytes, nullptr});
     }},
    {"User [constant] 8192 bytes are more than 4096: make it a parameter with initial data",
     [](Fixture& f) {
       const std::vector<std::byte> bytes(8192);
       f.g.constant({{2048}, DType::F32}, {bytes, nullptr});
     }},
    {"User [outputs] a graph needs at least one output", [](Fixture& f) { f.g.set_outputs({}); }},
    {"User [outputs] the name \"y\" is used twice",
     [](Fixture& f) { f.g.set_outputs({{"y", f.a}, {"y", f.b}}); }},
    {"User [outputs] \"y\" is empty", [](Fixture& f) { f.g.set_outputs({{"y", {}}}); }},
    {"User why: needs 3 == 4",
     [](Fixture& f) { f.g.add_constraint({Constraint::Kind::Equal, 3, 4, "why"}); }},
};

TEST(GraphErrors, NameTheOpAndShowTheShapes) {
  for (const Case& c : kCases) {
    Fixture fixture;
    EXPECT_EQ(error_of([&] { c.call(fixture); }), c.message);
  }
}

}  // namespace
}  // namespace tenon::graph
