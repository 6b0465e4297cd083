// Functions of the user's as ops of compiled graphs: what they are told, how often and in which
// order they are called, what becomes of their mistakes. Expected values are arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "tenon/tenon.h"
#include "tests/error_of.h"
#include "tests/temp_file.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;
using Types = std::span<const TensorType>;
using Dims = std::span<const Dim>;

std::vector<TensorType> like_the_first(Types inputs, Dims) { return {inputs[0]}; }

// x + by, and how often it was called.
struct Adder {
  std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
  CustomFunction function(const std::string& name, float by = 1) const {
    return {name, like_the_first, [calls = calls, by](const CustomCall& call) {
              ++*calls;
              const auto x = call.input<float>(0);
              const auto y = call.output<float>(0);
              for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] + by;
            }};
  }
};

TEST(CustomFunction, IsComputedBetweenKernels) {
  const Adder adder;
  Graph g;
  const Value x = g.input("x", {{4}, DType::F32});
  const Value twice = g.add(x, x);
  const Value y = g.custom(adder.function("add_one"), {twice})[0];
  g.set_outputs({{"y", g.mul(y, y)}, {"z", y}});
  CompiledGraph graph = Session().compile(g);
  const Floats data = {0, 1, 2, 3};
  for (int run = 1; run <= 3; ++run) {
    const auto outputs = graph.run({{"x", data}});
    EXPECT_EQ(outputs[0], (Floats{1, 9, 25, 49}));
    EXPECT_EQ(outputs[1], (Floats{1, 3, 5, 7}));
    EXPECT_EQ(*adder.calls, run);
  }
}

// [n, m] -> the sum of each row f32[n], and the place of its largest element i64[n].
CustomFunction rows_of() {
  return {"rows",
          [](Types inputs, Dims) {
            const Shape rows = {inputs[0].shape[0]};
            return std::vector<TensorType>{{rows, DType::F32}, {rows, DType::I64}};
          },
          [](const CustomCall& call) {
            const auto x = call.input<float>(0);
            const auto sums = call.output<float>(0);
            const auto places = call.output<int64_t>(1);
            const auto columns = static_cast<size_t>(call.inputs[0].shape[1]);
            for (size_t row = 0; row < sums.size(); ++row) {
              const auto elements = x.subspan(row * columns, columns);
              sums[row] = 0;
              for (const float element : elements) sums[row] += element;
              places[row] = std::ranges::max_element(elements) - elements.begin();
            }
          }};
}

TEST(CustomFunction, GivesResultsOfTheShapesThatItsRuleSays) {
  Graph g;
  const Symbol n("n", {1, 64}), m("m", {1, 64});
  const Value x = g.input("x", {{n, m}, DType::F32});
  const std::vector<Value> results = g.custom(rows_of(), {g.neg(x)});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].type().to_string(), "f32[n]");
  EXPECT_EQ(results[1].type().to_string(), "i64[n]");
  g.set_outputs({{"sums", results[0]}, {"places", g.add(results[1], g.integers({100}))}});
  CompiledGraph graph = Session().compile(g);
  const Floats data = {1, 2, -3, 4, 5, 6};
  auto outputs = graph.run_typed({{"x", view(data, {2, 3})}});
  EXPECT_EQ(outputs[0].shape, (std::vector<int64_t>{2}));
  EXPECT_EQ(Floats(outputs[0].as<float>().begin(), outputs[0].as<float>().end()), (Floats{0, -15}));
  EXPECT_EQ(outputs[1].as<int64_t>()[0], 102);
  EXPECT_EQ(outputs[1].as<int64_t>()[1], 100);
  outputs = graph.run_typed({{"x", view(data, {3, 2})}});
  EXPECT_EQ(Floats(outputs[0].as<float>().begin(), outputs[0].as<float>().end()),
            (Floats{-3, -1, -11}));
}

// An input whose rows lie apart is dense where the function sees it.
TEST(CustomFunction, SeesDenseMemory) {
  Graph g;
  const Value x = g.input("x", {{sym::batch(), sym::seq()}, DType::F32});
  g.set_outputs({{"sums", g.custom(rows_of(), {x})[0]}});
  CompiledGraph graph = Session().compile(g);
  const Floats apart = {1, 2, 99, 3, 4, 99};
  EXPECT_EQ(graph.run({{"x", TensorView(apart.data(), DType::F32, {2, 2}, {2, 3})}})[0],
            (Floats{3, 7}));
}

TEST(CustomFunction, IsToldTheValuesOfItsDimsInEachRun) {
  std::vector<std::vector<int64_t>> told;
  const CustomFunction tell("tell", like_the_first, [&](const CustomCall& call) {
    told.emplace_back(call.dims.begin(), call.dims.end());
    std::ranges::copy(call.input<float>(0), call.output<float>(0).begin());
  });
  Graph g;
  const Dim batch = sym::batch(), seq = sym::seq();
  const Value x = g.input("x", {{batch, seq}, DType::F32});
  g.set_outputs({{"y", g.custom(tell, {x}, {batch * seq + 1, 7, floordiv(seq, 2)})[0]}});
  CompiledGraph graph = Session().compile(g);
  const Floats data(24, 1);
  graph.run({{"x", view(data, {4, 6})}});
  graph.run({{"x", view(std::span(data).first(6), {2, 3})}});
  EXPECT_EQ(told, (std::vector<std::vector<int64_t>>{{25, 7, 3}, {7, 7, 1}}));
}

// n numbers from 0, where n is a Dim of the rule.
TEST(CustomFunction, MayHaveNoOperands) {
  const CustomFunction count(
      "count", [](Types, Dims dims) { return std::vector<TensorType>{{{dims[0]}, DType::F32}}; },
      [](const CustomCall& call) {
        float next = 0;
        for (float& element : call.output<float>(0)) element = next++;
      });
  Graph g;
  const Value x = g.input("x", {{sym::seq()}, DType::F32});
  g.set_outputs({{"y", g.mul(x, g.custom(count, {}, {sym::seq()})[0])}});
  CompiledGraph graph = Session().compile(g);
  EXPECT_EQ(graph.run({{"x", view(Floats{2, 2, 2}, {3})}})[0], (Floats{0, 2, 4}));
  EXPECT_EQ(graph.run({{"x", view(Floats{5, 5}, {2})}})[0], (Floats{0, 5}));
}

TEST(CustomFunction, IsCalledAsOftenAsItWasAppliedAndInThatOrder) {
  std::vector<float> seen;
  const CustomFunction note("note", like_the_first, [&](const CustomCall& call) {
    seen.push_back(call.input<float>(0)[0]);
    call.output<float>(0)[0] = static_cast<float>(seen.size());
  });
  Graph g;
  const Value x = g.input("x", {{1}, DType::F32}), ten = g.input("ten", {{1}, DType::F32});
  const Value first = g.custom(note, {x})[0], second = g.custom(note, {x})[0];
  const Value third = g.custom(note, {ten})[0];
  const Value fourth = g.custom(note, {first})[0];
  // Outputs in another order, and one application that none of them needs.
  g.custom(note, {ten});
  g.set_outputs({{"fourth", fourth}, {"third", third}, {"second", second}, {"first", first}});
  CompiledGraph graph = Session().compile(g);
  const Floats five = {5}, ten_data = {10};
  const auto outputs = graph.run({{"x", five}, {"ten", ten_data}});
  EXPECT_EQ(seen, (Floats{5, 5, 10, 1}));
  EXPECT_EQ(outputs, (std::vector<Floats>{{4}, {3}, {2}, {1}}));
}

// What a compiler could do once, a run does each time.
TEST(CustomFunction, OfConstantsAndParametersIsCalledInEveryRun) {
  const Adder adder;
  const CustomFunction function = adder.function("add_one");
  Graph g;
  const Value x = g.input("x", {{2}, DType::F32});
  const Value constant = g.custom(function, {g.constant(Floats{1, 2}, {2})})[0];
  const Value w = g.custom(function, {g.param("w", {{2}, DType::F32})})[0];
  g.set_outputs({{"y", g.add(x, g.add(constant, g.mul(w, w)))}});
  CompiledGraph graph = Session().compile(g);
  EXPECT_EQ(*adder.calls, 0);
  graph.set_param("w", Floats{1, 2});
  const Floats zeros = {0, 0};
  EXPECT_EQ(graph.run({{"x", zeros}})[0], (Floats{6, 12}));
  EXPECT_EQ(graph.run({{"x", zeros}})[0], (Floats{6, 12}));
  EXPECT_EQ(*adder.calls, 4);
}

// A loop's body applies it: x + 1, so often; and a branch of constants is not taken at compile
// time.
TEST(CustomFunction, IsCalledByBodies) {
  const Adder adder;
  auto body = std::make_shared<Graph>();
  body->input("in0", {{}, DType::I64});
  const Value go = body->input("in1", {{}, DType::Bool});
  const Value carried = body->input("in2", {{3}, DType::F32});
  const Value next = body->custom(adder.function("add_one"), {carried})[0];
  body->set_outputs({{"out0", go}, {"out1", body->add(next, next)}});
  Graph g;
  const Value trips = g.input("trips", {{}, DType::I64}), x = g.input("x", {{3}, DType::F32});
  const Attributes attributes = {{"body", std::shared_ptr<const Graph>(body)},
                                 {"carried", int64_t{1}},
                                 {"extents", std::vector<Dim>{3}}};
  const Value always = g.scalar(DType::Bool, 1);
  const Value constant = g.constant(std::vector<int64_t>{2}, {});
  g.set_outputs(
      {{"y", g.op1("loop", {trips, always, x}, attributes)},
       {"z", g.op1("loop", {constant, always, g.constant(Floats{0, 1, 2}, {3})}, attributes)}});
  CompiledGraph graph = Session().compile(g);
  EXPECT_EQ(*adder.calls, 0);
  const Floats data = {0, 1, 2};
  const int64_t three = 3, none = 0;
  // 2 (2 (2 (x + 1) + 1) + 1) = 8 x + 14
  auto outputs = graph.run({{"trips", TensorView(&three, DType::I64, {})}, {"x", data}});
  EXPECT_EQ(outputs[0], (Floats{14, 22, 30}));
  EXPECT_EQ(outputs[1], (Floats{6, 10, 14}));
  EXPECT_EQ(*adder.calls, 5);
  outputs = graph.run({{"trips", TensorView(&none, DType::I64, {})}, {"x", data}});
  EXPECT_EQ(outputs[0], data);
  EXPECT_EQ(*adder.calls, 7);
}

TEST(CustomFunction, ThatThrowsEndsTheRunWithAnErrorThatNamesIt) {
  bool fails = true;
  const CustomFunction moody("moody", like_the_first, [&](const CustomCall& call) {
    if (fails) throw std::runtime_error("not today");
    std::ranges::copy(call.input<float>(0), call.output<float>(0).begin());
  });
  Graph g;
  const Value x = g.input("x", {{2}, DType::F32});
  g.set_outputs({{"y", g.relu(g.custom(moody, {x})[0])}});
  CompiledGraph graph = Session().compile(g);
  const Floats data = {-1, 1};
  EXPECT_EQ(user_error_of([&] { graph.run({{"x", data}}); }), "[custom moody] not today");
  fails = false;
  EXPECT_EQ(graph.run({{"x", data}})[0], (Floats{0, 1}));
}

TEST(CustomFunction, ThatThrowsNoStdExceptionIsNamedToo) {
  const CustomFunction odd("odd", like_the_first, [](const CustomCall&) { throw 1; });
  Graph g;
  g.set_outputs({{"y", g.custom(odd, {g.input("x", {{2}, DType::F32})})[0]}});
  CompiledGraph graph = Session().compile(g);
  const Floats data = {-1, 1};
  EXPECT_EQ(user_error_of([&] { graph.run({{"x", data}}); }),
            "[custom odd] it threw something that is no std::exception");
}

TEST(CustomFunction, IsToldOfElementsThatItDoesNotHave) {
  int mistake = 0;
  const CustomFunction wrong("wrong", like_the_first, [&](const CustomCall& call) {
    if (mistake == 0) call.input<float>(1);
    if (mistake == 1) call.output<int32_t>(0);
  });
  Graph g;
  g.set_outputs({{"y", g.custom(wrong, {g.input("x", {{2}, DType::F32})})[0]}});
  CompiledGraph graph = Session().compile(g);
  const Floats data = {-1, 1};
  EXPECT_EQ(user_error_of([&] { graph.run({{"x", data}}); }),
            "[custom wrong] there is no input 1, only 1");
  mistake = 1;
  EXPECT_EQ(user_error_of([&] { graph.run({{"x", data}}); }),
            "[custom wrong] output 0 is f32, not i32");
}

// The error of a graph in which a function of this rule is applied to x f32[n, 4].
std::string error_of_rule(CustomFunction::Infer rule) {
  Graph g;
  const Value x = g.input("x", {{Symbol("n", {1, 9}), 4}, DType::F32});
  const CustomFunction function("odd", std::move(rule), [](const CustomCall&) {});
  return user_error_of([&] { g.custom(function, {x}); });
}

TEST(CustomFunction, WhoseRuleIsWrongIsRefusedWhereItIsApplied) {
  EXPECT_EQ(error_of_rule([](Types, Dims) { return std::vector<TensorType>(); }),
            "[custom odd] its rule gives no result: f32[n, 4]");
  EXPECT_EQ(error_of_rule([](Types, Dims) -> std::vector<TensorType> {
              throw std::runtime_error("I want a matrix");
            }),
            "[custom odd] its rule of shapes: I want a matrix");
  EXPECT_EQ(error_of_rule([](Types inputs, Dims) {
              return std::vector<TensorType>{{{inputs[0].shape[1] - 5}, DType::F32}};
            }),
            "[custom odd] extent -1 is negative: f32[n, 4]");
  EXPECT_EQ(error_of_rule([](Types, Dims) {
              return std::vector<TensorType>{{{Symbol("k", {1, 9})}, DType::F32}};
            }),
            "[custom odd] its rule gives an extent of k, which is in no operand and no dim: "
            "f32[n, 4]");
  EXPECT_EQ(user_error_of([] { CustomFunction("", like_the_first, [](const CustomCall&) {}); }),
            "[custom] a custom function needs a name");
  EXPECT_EQ(user_error_of([] { CustomFunction("f", like_the_first, nullptr); }),
            "[custom f] it needs a rule of shapes and a function to run");
}

TEST(CustomFunction, WhoseRuleSaysOneThingAndThenAnotherIsRefused) {
  size_t results = 1;
  const CustomFunction fickle(
      "fickle", [&](Types inputs, Dims) { return std::vector<TensorType>(results++, inputs[0]); },
      [](const CustomCall&) {});
  Graph g;
  const Value x = g.input("x", {{4}, DType::F32});
  EXPECT_EQ(user_error_of([&] { g.custom(fickle, {x}); }),
            "[custom fickle] its rule gives 2 results here, and 1 where it was applied: f32[4]");
}

// An extent that may be negative is checked by the run.
TEST(CustomFunction, IsNotCalledWhereAnExtentWouldBeNegative) {
  const CustomFunction shorter(
      "shorter",
      [](Types inputs, Dims) {
        return std::vector<TensorType>{{{inputs[0].shape[0] - 2}, DType::F32}};
      },
      [](const CustomCall& call) {
        std::ranges::copy(call.input<float>(0).subspan(2), call.output<float>(0).begin());
      });
  Graph g;
  const Value x = g.input("x", {{Symbol("n", {1, 9})}, DType::F32});
  g.set_outputs({{"y", g.custom(shorter, {x})[0]}});
  CompiledGraph graph = Session().compile(g);
  EXPECT_EQ(graph.run({{"x", view(Floats{1, 2, 3}, {3})}})[0], (Floats{3}));
  EXPECT_EQ(graph.run({{"x", view(Floats{1, 2}, {2})}})[0], Floats());
  EXPECT_NE(user_error_of([&] {
              graph.run({{"x", view(Floats{1}, {1})}});
            }).find("[custom shorter] an extent is negative"),
            std::string::npos);
}

TEST(CustomFunction, IsACopyOfItselfAndOfNoOther) {
  const Adder adder;
  const CustomFunction one = adder.function("f"), other = adder.function("f");
  const std::vector<CustomFunction> copies(1, one);
  const CustomFunction& copy = copies[0];
  EXPECT_EQ(copy.name(), "f");
  EXPECT_TRUE(copy == one);
  EXPECT_FALSE(other == one);
  EXPECT_EQ(copy.id(), one.id());
  EXPECT_NE(other.id(), one.id());
  const TensorType type{{2}, DType::F32};
  EXPECT_EQ(one.infer(std::span(&type, 1), {}), std::vector{type});
  const Floats x = {1, 2};
  Floats y(2);
  const TensorView input(x.data(), DType::F32, {2});
  const MutableTensorView output{y.data(), DType::F32, {2}};
  one.run({.inputs = std::span(&input, 1), .outputs = std::span(&output, 1), .dims = {}});
  EXPECT_EQ(y, (Floats{2, 3}));
}

Graph plus_one(const CustomFunction& function) {
  Graph g;
  g.set_outputs({{"y", g.custom(function, {g.input("x", {{sym::batch()}, DType::F32})})[0]}});
  return g;
}

TEST(CustomFunction, CannotBeSavedNorReadFromText) {
  const CustomFunction function = Adder().function("add_one");
  const Graph g = plus_one(function);
  const TempFile file(".tenon");
  EXPECT_EQ(error_of([&] { Session().compile(g).save(file.path()); }, ErrorKind::Unsupported),
            "[custom add_one] a custom function cannot be saved: it is code of the process that "
            "made it");
  EXPECT_FALSE(std::filesystem::exists(file.path()));
  EXPECT_NE(g.print().find("custom(%x) {dims = [], function = \"add_one\", results = 1"),
            std::string::npos)
      << g.print();
  EXPECT_NE(user_error_of([&] {
              Graph::parse(g.print());
            }).find("[custom add_one] a custom function cannot be read from text"),
            std::string::npos);
}

TEST(CustomFunction, IsNotKeptOnDisk) {
  const Adder adder;
  const TempFile folder("");
  AotCache cache(folder.path());
  const Graph g = plus_one(adder.function("add_one"));
  const Floats data = {1, 2};
  for (int time = 0; time < 2; ++time) {
    CompiledGraph graph = cache.compile(g);
    EXPECT_FALSE(graph.stats().from_disk);
    EXPECT_EQ(graph.run({{"x", view(data, {2})}})[0], (Floats{2, 3}));
  }
  EXPECT_TRUE(cache.entries().empty());
}

TEST(CustomFunction, IsCalledByClonesAtTheSameTime) {
  const Adder adder;
  CompiledGraph graph = Session().compile(plus_one(adder.function("add_one")));
  constexpr int kRuns = 200;
  const auto work = [](CompiledGraph& graph, float value) {
    const Floats data(64, value);
    for (int i = 0; i < kRuns; ++i)
      EXPECT_EQ(graph.run({{"x", view(data, {64})}})[0], Floats(64, value + 1));
  };
  CompiledGraph clone = graph.clone();
  std::thread other([&] { work(clone, 5); });
  work(graph, 7);
  other.join();
  EXPECT_EQ(*adder.calls, 2 * kRuns);
}

TEST(CustomFunction, IsNotCalledByARunThatIsToStop) {
  std::stop_source stop;
  int calls = 0;
  const CustomFunction ask("ask", like_the_first, [&](const CustomCall&) {
    ++calls;
    stop.request_stop();
  });
  Graph g;
  const Value first = g.custom(ask, {g.input("x", {{2}, DType::F32})})[0];
  g.set_outputs({{"y", g.custom(ask, {first})[0]}});
  CompiledGraph graph = Session().compile(g);
  const Floats data = {1, 2};
  EXPECT_THROW(graph.run({{"x", data}}, {.stop = stop.get_token()}), Cancelled);
  EXPECT_EQ(calls, 1);
}

// The null device computes nothing, and calls nobody.
TEST(CustomFunction, IsNotCalledOnTheNullDevice) {
  const Adder adder;
  CompiledGraph graph = Session(Device::Null()).compile(plus_one(adder.function("add_one")));
  const Floats data = {1, 2, 3};
  EXPECT_EQ(graph.run({{"x", view(data, {3})}})[0], Floats(3, 0));
  EXPECT_EQ(*adder.calls, 0);
}

// What it takes and gives keeps its dtype, whatever the numbers around it are.
TEST(CustomFunction, HasItsDtypesInEveryPrecision) {
  std::vector<DType> seen;
  const CustomFunction note("note", like_the_first, [&](const CustomCall& call) {
    seen = {call.inputs[0].dtype, call.outputs[0].dtype};
    std::ranges::copy(call.input<float>(0), call.output<float>(0).begin());
  });
  Graph g;
  const Value x = g.input("x", {{2}, DType::F32});
  g.set_outputs({{"y", g.mul(g.custom(note, {g.add(x, x)})[0], x)}});
  CompiledGraph graph = Session().with_policy(PrecisionPolicy::AlwaysBf16).compile(g);
  const Floats data = {1, 2};
  EXPECT_EQ(graph.run({{"x", data}})[0], (Floats{2, 8}));
  EXPECT_EQ(seen, (std::vector{DType::F32, DType::F32}));
}

// Where a bucket runs shorter, nobody knows what the function makes of fewer rows: it has all,
// those past the active ones of zeros, and what it makes of these is in the output.
TEST(CustomFunction, OfABucketHasAllItsRows) {
  std::vector<int64_t> seen;
  const CustomFunction add_one("add_one", like_the_first, [&](const CustomCall& call) {
    seen = call.inputs[0].shape;
    std::ranges::transform(call.input<float>(0), call.output<float>(0).begin(),
                           [](float v) { return v + 1; });
  });
  Graph g;
  const Value x = g.input("x", {{8, 2}, DType::F32}, {.bucket_axis = 0});
  g.set_outputs({{"y", g.custom(add_one, {g.add(x, x)})[0]}});
  CompiledGraph graph = Session().compile(g);
  const Floats data(16, 1);
  EXPECT_EQ(graph.run({{"x", view(data, {8, 2})}})[0], Floats(16, 3));
  graph.set_active_extent(3, 8);
  Floats expected(16, 1);
  std::fill_n(expected.begin(), 6, 3);
  EXPECT_EQ(graph.run({{"x", view(Floats(6, 1), {3, 2})}})[0], expected);
  EXPECT_EQ(seen, (std::vector<int64_t>{8, 2}));
  EXPECT_EQ(graph.run({{"x", view(data, {8, 2})}})[0], Floats(16, 3));  // given all of them
  graph.clear_active_extent();
  EXPECT_EQ(graph.run({{"x", view(data, {8, 2})}})[0], Floats(16, 3));
}

TEST(CustomFunction, StaysWhereExtentsBecomeNumbers) {
  const Adder adder;
  Session session;
  CompiledGraph graph =
      session.compile(plus_one(adder.function("add_one")), {.dim_binding = {{"batch", 3}}});
  const Floats data = {1, 2, 3};
  EXPECT_EQ(graph.run({{"x", view(data, {3})}})[0], (Floats{2, 3, 4}));
  EXPECT_EQ(*adder.calls, 1);
}

}  // namespace
}  // namespace tenon
