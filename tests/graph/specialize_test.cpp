// Values in the place of symbols: the results stay, the symbols go, and wrong values are refused.
#include "graph/specialize.h"

#include <gtest/gtest.h>

#include "tests/graph/every_op.h"
#include "tests/graph/tensors.h"

namespace tenon::graph {
namespace {

const Dim kBatch = sym::batch(), kSeq = sym::seq();

Graph rows() {
  Graph g;
  const Value x = g.input("x", {{kBatch, kSeq, 4}, DType::F32});
  const Value y = g.reshape(x, {kBatch * kSeq, 4});
  g.set_outputs({{"y", g.slice(y, {0, 1}, {kBatch * kSeq, 2}, {1, 1})},
                 {"count", g.dims({kBatch * kSeq}, true)}});
  return g;
}

TEST(Specialize, LeavesNoSymbol) {
  const Graph special = specialize(rows(), {{"batch", 2}, {"seq", 3}});
  EXPECT_EQ(special.outputs()[0].value.type().to_string(), "f32[6, 2]");
  EXPECT_TRUE(special.symbols().empty());
  EXPECT_EQ(special.outputs()[1].value.op(), Op::Constant);
}

TEST(Specialize, EveryOpHasTheExtentsThatItsFormulasGive) {
  const Graph graph = every_op();
  const SymbolTable extents = {{"batch", 2}, {"seq", 3}};
  SymbolTable all;
  for (const Value& input : graph.inputs()) {
    for (const Dim& dim : input.shape()) {
      for (const Symbol& symbol : dim.symbols()) {
        const auto known = extents.find(symbol.name());
        all[symbol.name()] =
            known == extents.end() ? std::max<int64_t>(2, symbol.bounds().lo) : known->second;
      }
    }
  }
  const Graph special = specialize(graph, all);
  verify(special);
  EXPECT_EQ(special.outputs().size(), graph.outputs().size());
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Value &was = graph.outputs()[i].value, &is = special.outputs()[i].value;
    EXPECT_EQ(was.dtype(), is.dtype());
    for (int axis = 0; axis < was.shape().rank(); ++axis) {
      const auto value = was.shape()[axis].evaluate(values_of(all));
      if (value) EXPECT_TRUE(is.shape()[axis].is_const(*value)) << graph.outputs()[i].name;
    }
  }
}

TEST(Specialize, NothingToBindIsTheSameGraph) {
  Graph g;
  g.set_outputs({{"y", g.relu(g.input("x", {{4}, DType::F32}))}});
  EXPECT_EQ(digest(specialize(g, {})), digest(g));
}

TEST(Specialize, RefusesWrongValues) {
  const auto text = [](const SymbolTable& values) {
    return error_of([&] { specialize(rows(), values); });
  };
  EXPECT_EQ(text({{"batch", 2}}), "User [specialize] no value for seq");
  EXPECT_EQ(text({{"batch", 2}, {"seq", 3}, {"width", 4}}),
            "User [specialize] width = 4: no input has such a dim; there are: batch, seq");
  EXPECT_NE(text({{"batch", 0}, {"seq", 3}}).find("outside its bounds"), std::string::npos);
}

TEST(Specialize, RefusesWhatBreaksAConstraint) {
  Graph g;
  const Symbol n("n", {1, 100});
  const Value x = g.input("x", {{kBatch, Dim(n)}, DType::F32});
  const Value w = g.param("w", {{8, 2}, DType::F32});
  g.set_outputs({{"y", g.matmul(x, w)}});
  EXPECT_EQ(specialize(g, {{"batch", 1}, {"n", 8}}).outputs()[0].value.type().to_string(),
            "f32[1, 2]");
  const std::string text = error_of([&] { specialize(g, {{"batch", 1}, {"n", 9}}); });
  EXPECT_NE(text.find("9"), std::string::npos) << text;
}

}  // namespace
}  // namespace tenon::graph
