// Branches and loops of compiled graphs: the branch that is not taken does not run, and the body of
// a loop is code that there is once, however often it runs.
#include <gtest/gtest.h>

#include "driver/kernel_cache.h"
#include "tenon/tenon.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;
using Body = std::shared_ptr<const Graph>;

// Rows of a table; the other branch gives the table's first ones.
Body taken() {
  auto body = std::make_shared<Graph>();
  const Value table = body->input("in0", {{4}, DType::F32});
  const Value at = body->input("in1", {{2}, DType::I64});
  body->set_outputs({{"out0", body->gather(table, at, 0)}});
  return body;
}
Body other() {
  auto body = std::make_shared<Graph>();
  body->set_outputs({{"out0", body->neg(body->input("in0", {{2}, DType::F32}))}});
  return body;
}

TEST(ControlFlow, TheBranchThatIsNotTakenDoesNotRun) {
  Graph g;
  const Value flag = g.input("flag", {{}, DType::Bool});
  const Value table = g.input("table", {{4}, DType::F32}), at = g.input("at", {{2}, DType::I64});
  const Value x = g.input("x", {{2}, DType::F32});
  g.set_outputs(
      {{"y", g.op1("if", {flag, table, at, x},
                   {{"then", taken()}, {"else", other()}, {"extents", std::vector<Dim>{2}}})}});
  CompiledGraph graph = Session().compile(g);
  const Floats rows = {1, 2, 3, 4}, values = {7, 8};
  std::vector<int64_t> places = {3, 1};
  const auto run = [&](bool taken) {
    return graph.run({{"flag", TensorView(&taken, DType::Bool, {})},
                      {"table", rows},
                      {"at", view(places, {2})},
                      {"x", values}})[0];
  };
  EXPECT_EQ(run(true), (Floats{4, 2}));
  EXPECT_EQ(run(false), (Floats{-7, -8}));
  places = {3, 9};  // a fault, where it runs
  EXPECT_NE(user_error_of([&] { run(true); }).find("9"), std::string::npos);
  EXPECT_EQ(run(false), (Floats{-7, -8}));
}

// x, doubled so often, and increased by one each time.
Graph loop(std::optional<int64_t> trips) {
  Graph g;
  const Value count =
      trips ? g.constant(std::vector<int64_t>{*trips}, {}) : g.input("trips", {{}, DType::I64});
  auto body = std::make_shared<Graph>();
  body->input("in0", {{}, DType::I64});
  const Value go = body->input("in1", {{}, DType::Bool});
  const Value carried = body->input("in2", {{3}, DType::F32});
  const Value twice = body->add(carried, carried);
  body->set_outputs({{"out0", go}, {"out1", body->add(twice, body->scalar(DType::F32, 1))}});
  const Value x = g.input("x", {{3}, DType::F32});
  g.set_outputs(
      {{"y",
        g.op1("loop", {count, g.scalar(DType::Bool, 1), x},
              {{"body", Body(body)}, {"carried", int64_t{1}}, {"extents", std::vector<Dim>{3}}})}});
  return g;
}

TEST(ControlFlow, ABodyIsCompiledOnceHoweverOftenItRuns) {
  const CompiledGraph few = Session().compile(loop(2)), many = Session().compile(loop(1000));
  EXPECT_EQ(many.stats().kernels, few.stats().kernels);
  EXPECT_EQ(many.stats().steps, few.stats().steps);
  CompiledGraph graph = Session().compile(loop(std::nullopt));
  const int64_t compiled = driver::kernel_cache().made();
  const Floats x = {0, 1, 3};
  for (const int64_t trips : {0, 1, 2, 15}) {
    const auto factor = static_cast<float>(int64_t{1} << trips);  // x 2^n + 2^n - 1
    EXPECT_EQ(graph.run({{"trips", TensorView(&trips, DType::I64, {})}, {"x", x}})[0],
              (Floats{factor - 1, 2 * factor - 1, 4 * factor - 1}));
  }
  EXPECT_EQ(driver::kernel_cache().made(), compiled);
}

}  // namespace
}  // namespace tenon
