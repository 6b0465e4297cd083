// The text form: reads back to the same graph and digest, and rejects everything else with a line
// and column.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "graph/marked_text.h"
#include "tests/graph/every_op.h"
#include "tests/graph/tensors.h"

namespace tenon::graph {
namespace {

void expect_round_trip(const Graph& graph) {
  const std::string text = print(graph);
  const Graph again = parse(text);
  verify(again);
  EXPECT_EQ(print(again), text);
  EXPECT_EQ(digest(again), digest(graph));
}

TEST(Print, ShowsOneLinePerNode) {
  Graph g;
  const Value x = g.input("x", {{sym::batch(), Symbol("seq", {1, 512}), 4}, DType::F32});
  const Value w = g.param("w.0", {{4, 6}, DType::F32});
  const Value y = g.matmul(x, w);
  g.set_origin(y.node, "layer \"0\"");
  const std::vector<Value> parts = g.split(y, 2, {2, 4});
  g.set_outputs({{"a", g.mul(parts[0], g.scalar(DType::F32, 0.5))}, {"b", parts[1]}});
  EXPECT_EQ(print(g), R"(graph
symbol batch 1..2147483647
symbol seq 1..512
input %x : f32[batch, seq, 4]
param %w.0 : f32[4, 6]
%0 = matmul(%x, %w.0) : f32[batch, seq, 6] @"layer \"0\""
%1, %2 = split(%0) {axis = 2, extents = [2, 4]} : f32[batch, seq, 2], f32[batch, seq, 4]
%3 = constant(0.5) : f32[]
%4 = mul(%1, %3) : f32[batch, seq, 2]
output "a" = %4
output "b" = %2
)");
}

TEST(Text, RoundTripsAGraphWithEveryOp) {
  const Graph g = every_op();
  std::vector<bool> seen(kOpCount);
  for (const Node* node : g.topological()) seen[static_cast<size_t>(node->op())] = true;
  for (int i = 0; i < kOpCount; ++i) {
    const bool has_text = static_cast<Op>(i) != Op::Custom;  // a function of this process has none
    EXPECT_EQ(seen[static_cast<size_t>(i)], has_text) << kOps[i].name;
  }
  verify(g);
  expect_round_trip(g);
}

TEST(Text, HasTheMarksOfABucketBesideTheGraph) {
  Graph g;
  const Value x = g.input("x", {{16, 4}, DType::F32}), y = g.input("y", {{4, 16}, DType::F32});
  g.set_origin(x.node, "rows");
  g.set_outputs({{"z", g.matmul(x, y)}});
  const std::string text = print(g, {{"x", 0}, {"y", 1}});
  EXPECT_EQ(text, R"(graph
input %x : f32[16, 4] bucket_axis 0 @"rows"
input %y : f32[4, 16] bucket_axis 1
%0 = matmul(%x, %y) : f32[16, 16]
output "z" = %0
)");
  const MarkedGraph again = parse_marked(text);
  EXPECT_EQ(again.marked, (BucketAxes{{"x", 0}, {"y", 1}}));
  EXPECT_EQ(print(again.graph, again.marked), text);
  EXPECT_EQ(digest(parse(text)), digest(g));
}

TEST(Text, KeepsEveryBitOfConstants) {
  Graph g;
  std::vector<Output> outputs;
  const auto add = [&](DType dtype, const std::vector<uint8_t>& bytes) {
    const auto count = static_cast<int64_t>(bytes.size()) / size_of(dtype);
    outputs.push_back({fmt::format("c{}", outputs.size()),
                       g.constant({{count}, dtype}, {std::as_bytes(std::span(bytes)), nullptr})});
  };
  for (const double value :
       {0.0, -0.0, 1e-45, 3.4e38, 0.1, std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    for (const DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
      outputs.push_back({fmt::format("s{}", outputs.size()), g.scalar(dtype, value)});
    }
  }
  add(DType::F32, {0x01, 0x00, 0x80, 0x7f, 0, 0, 0x80, 0x3f});  // a signalling NaN, and 1
  add(DType::U64, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
  add(DType::I64, {0, 0, 0, 0, 0, 0, 0, 0x80});
  add(DType::Bool, {0, 1, 1});
  add(DType::Bool, {2});
  add(DType::I8, {});
  add(DType::U8, std::vector<uint8_t>(4096, 7));
  g.set_outputs(outputs);
  expect_round_trip(g);
}

TEST(Text, KeepsConstraintsAndOddNames) {
  Graph g;
  const Value a = g.input("a b\"\n", {{sym::seq(), Symbol("un known", {0, 9})}, DType::F32});
  const Value b = g.input("3", {{sym::batch(), 1}, DType::F32});
  g.add_constraint({Constraint::Kind::AtMost, sym::seq(), 512, "the position table\n"});
  g.set_outputs({{"y\\", g.matmul(g.add(a, b), g.param("w", {{4, 2}, DType::F32}))}});
  EXPECT_EQ(g.constraints().size(), 3u);
  expect_round_trip(g);
}

TEST(Text, IgnoresSpaceAndComments) {
  const Graph g =
      parse("graph // a comment\n\tinput %x:f32[ 4 ]\n%0=relu( %x ):f32[4]\noutput\"y\"=%0");
  EXPECT_EQ(print(g), "graph\ninput %x : f32[4]\n%0 = relu(%x) : f32[4]\noutput \"y\" = %0\n");
}

struct BadText {
  const char* text;
  const char* message;
};

constexpr BadText kBadTexts[] = {
    {"", "1:1: expected 'graph'"},
    {"graph\n", "1:1: [outputs] a graph needs at least one output"},
    {"graph\nwhat", "2:1: expected symbol, require, input, param, output or %"},
    {"graph input %x f32[4]", "1:16: expected ':'"},
    {"graph\n  input %x : f33[4]", "2:3: unknown dtype \"f33\""},
    {"graph input %x : f32[n]", "1:7: symbol n is not declared"},
    {"graph input %x : f32[4", "1:23: expected ']'"},
    {"graph input %x : f32[4] input %x : f32[4]",
     "1:25: [input] the name \"x\" is taken by an input or parameter"},
    {"graph symbol n 4..1", "1:7: [symbol] n: lower bound 4 is above upper bound 1"},
    {"graph symbol n 1..2 symbol n 1..2", "1:21: symbol n is declared twice"},
    {"graph input %x : f32[4] %0 = relu(%y) : f32[4]", "1:25: %y is not defined"},
    {"graph input %x : f32[4] %0 = relux(%x) : f32[4]", "1:25: unknown op \"relux\""},
    {"graph input %x : f32[4] %0 = relu(%x) : f32[5]",
     "1:25: [relu] is declared f32[5], inferred f32[4]"},
    {"graph input %x : f32[4] %0 = exp(%x, %x) : f32[4]", "1:25: [exp] does not take 2 operands"},
    {"graph input %x : f32[4] %0 = softmax(%x) : f32[4]",
     "1:25: [softmax] needs the attribute \"axis\""},
    {"graph input %x : f32[4] %0 = softmax(%x) {axes = 1} : f32[4]",
     "1:25: [softmax] has no attribute \"axes\""},
    {"graph input %x : f32[4] %0 = softmax(%x) {axis = x} : f32[4]",
     "1:50: expected a 64-bit integer"},
    {"graph input %x : f32[4] %0, %1 = relu(%x) : f32[4]", "1:25: [relu] has 1 results"},
    {"graph %0 = constant(1, 2) : f32[3]",
     "1:7: [constant] \"\" has 8 bytes of data, which do not fill f32[3]"},
    {"graph %0 = constant(1.5) : i32[1]", "1:7: [constant] 1.5 is no i32"},
    {"graph %0 = constant(300) : u8[1]", "1:7: [constant] 300 is no u8"},
    {"graph %0 = constant(0x123) : u8[1]", "1:7: [constant] expected whole hexadecimal bytes"},
    {"graph %0 = dims() : i64[1]", "1:7: [dims] needs values"},
    {"graph input %x : f32[4] output \"y = %x", "1:32: the string does not end"},
    {"graph require same(1, 2) \"w\"", "1:7: expected equal, at_most or broadcastable"},
    {"graph require equal(1, 2) \"w\"", "1:7: w: needs 1 == 2"},
    {"graph %0 = input() : f32[4]", "1:7: [input] is a leaf and has its own builder"},
    {"graph input %x : f32[4] bucket_axis 1",
     "1:7: [input] \"x\" f32[4]: the bucket axis 1 is none of its axes of constant extent"},
    {"graph symbol n 1..2 input %x : f32[n] bucket_axis 0",
     "1:21: [input] \"x\" f32[n]: the bucket axis 0 is none of its axes of constant extent"},
    {"graph input %x : f32[4] bucket_axis 99999999999",
     "1:7: [input] \"x\" f32[4]: the bucket axis 2147483647 is none of its axes of constant "
     "extent"},
    {"graph param %x : f32[4] bucket_axis 0",
     "1:7: [param] \"x\" has no bucket axis: only inputs of the whole graph have"},
    {"graph input %x {axis = 0, capacity = 4} : f32[4] bucket_axis 0",
     "1:7: [input] \"x\" has no bucket axis: only inputs of the whole graph have"},
};

TEST(Parse, SaysWhereTheTextIsWrong) {
  for (const BadText& bad : kBadTexts) {
    EXPECT_EQ(error_of([&] { parse(bad.text); }), std::string("User ") + bad.message) << bad.text;
  }
}

TEST(Parse, SurvivesDeepAndHugeExpressions) {
  const std::string deep(200000, '(');
  EXPECT_TRUE(error_of([&] { parse("graph input %x : f32[" + deep); }).starts_with("User "));
  EXPECT_TRUE(error_of([&] {
                parse(
                    "graph input %x : f32[9223372036854775807, 9223372036854775807] "
                    "%0 = reshape(%x) {shape = [1]} : f32[1]");
              }).starts_with("User "));
  EXPECT_TRUE(
      error_of([&] { parse("graph input %x : f32[99999999999999999999]"); }).starts_with("User "));
}

// Text with bytes changed at random either parses or is a User (or Unsupported) error; never
// anything else.
TEST(Parse, SurvivesDamagedText) {
  const std::string whole = print(every_op());
  std::mt19937 random(1);
  const std::string alphabet = "%(),:=[]{}\"\\0123456789abcxfi. \n-@";
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole;
    for (int edits = 0; edits < 3; ++edits) {
      const size_t at = random() % text.size();
      if (random() % 3 == 0) {
        text.erase(at, 1 + random() % 20);
      } else {
        text[at] = alphabet[random() % alphabet.size()];
      }
    }
    const std::string result = error_of([&] { verify(parse(text)); });
    EXPECT_FALSE(result.starts_with("Internal")) << result;
  }
}

}  // namespace
}  // namespace tenon::graph
