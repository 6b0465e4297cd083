// What a backend claims, what policies and overrides make of it, and what is told of that.
#include "legalize/dispatch.h"

#include <gtest/gtest.h>

#include "legalize/decompose_fused.h"
#include "tests/graph/tensors.h"

namespace tenon::legalize {
namespace {

using graph::Claims;
using graph::error_of;
using graph::Graph;
using graph::Op;

Graph layer() {
  Graph g;
  const graph::Value x = g.input("x", {{sym::batch(), sym::seq(), 8}, DType::F32});
  const graph::Value w = g.param("w", {{8, 8}, DType::F32});
  g.set_current_origin("layer.0");
  const graph::Value y = g.linear(x, w, {}, x, graph::Activation::Gelu);
  g.set_outputs({{"y", g.attention(y, y, y, {.heads = 2, .head_dim = 4})}});
  return g;
}

int count(const Graph& graph, Op op) {
  int found = 0;
  for (const graph::Node* node : graph.topological()) found += node->op() == op ? 1 : 0;
  return found;
}

bool has_fused(const Graph& graph) {
  for (const graph::Node* node : graph.topological()) {
    if (is_fused(node->op())) return true;
  }
  return false;
}

const Claims kAll{"all", [](const graph::Node&) { return true; }};
const Claims kPrimitives{"plain", [](const graph::Node& node) { return !is_fused(node.op()); }};

Graph dispatched(const Claims& claims, const DispatchOptions& options = {},
                 DispatchReport* report = nullptr) {
  DispatchReport own;
  return dispatch(layer(), claims, options, report ? *report : own);
}

TEST(Dispatch, WhatIsClaimedStays) {
  DispatchReport report;
  const Graph graph = dispatched(kAll, {}, &report);
  EXPECT_EQ(digest(graph), digest(layer()));
  EXPECT_EQ(report.rows.at("linear"), (DispatchReport::Row{.native = 1}));
  EXPECT_EQ(report.rows.at("attention"), (DispatchReport::Row{.native = 1}));
}

TEST(Dispatch, TheRestBecomesPrimitives) {
  DispatchReport report;
  const Graph graph = dispatched(kPrimitives, {}, &report);
  EXPECT_FALSE(has_fused(graph));
  EXPECT_EQ(report.rows.at("linear"), (DispatchReport::Row{.common = 1}));
  EXPECT_EQ(report.rows.at("matmul").native, 3);
  EXPECT_NE(report.to_string().find("linear"), std::string::npos);
  EXPECT_NE(report.to_json().find(R"("linear":{"native":0,"common":1,"rewritten":0})"),
            std::string::npos);
}

// Causal attention becomes attention with a mask before it becomes primitives.
TEST(Dispatch, CountsWhatTheModelHadOnce) {
  Graph g;
  const graph::Value x = g.input("x", {{sym::batch(), sym::seq(), 8}, DType::F32});
  g.set_outputs({{"y", g.attention(x, x, x, {.heads = 2, .head_dim = 4, .causal = true})}});
  DispatchReport report;
  EXPECT_FALSE(has_fused(dispatch(g, kPrimitives, {}, report)));
  EXPECT_EQ(report.rows.at("attention"), (DispatchReport::Row{.common = 1}));
}

TEST(Dispatch, ForcesPrimitives) {
  EXPECT_FALSE(has_fused(dispatched(kAll, {.policy = DispatchPolicy::ForceCommon})));
}

TEST(Dispatch, OverridesWinOverThePolicy) {
  const Graph one = dispatched(kAll, {.overrides = {{"attention", DispatchPolicy::ForceCommon}}});
  EXPECT_EQ(count(one, Op::Attention), 0);
  EXPECT_EQ(count(one, Op::Linear), 1);
  const Graph other = dispatched(kAll, {.policy = DispatchPolicy::ForceCommon,
                                        .overrides = {{"linear", DispatchPolicy::PreferNative}}});
  EXPECT_EQ(count(other, Op::Attention), 0);
  EXPECT_EQ(count(other, Op::Linear), 1);
}

TEST(Dispatch, NamesTheBackendAndAllThatItDoesNotTake) {
  const std::string forced =
      error_of([] { dispatched(kPrimitives, {.policy = DispatchPolicy::ForceNative}); });
  EXPECT_EQ(forced,
            "Unsupported [dispatch] the backend plain does not take:\n"
            "  attention (layer.0): the policy forbids to make primitives of it\n"
            "  linear (layer.0): the policy forbids to make primitives of it");
  const Claims no_matmul{"odd", [](const graph::Node& node) {
                           return !is_fused(node.op()) && node.op() != Op::MatMul;
                         }};
  const std::string text = error_of([&] { dispatched(no_matmul); });
  EXPECT_NE(text.find("the backend odd does not take:\n  matmul"), std::string::npos) << text;
}

TEST(Dispatch, RefusesOverridesThatMeanNothing) {
  EXPECT_EQ(
      error_of([] { dispatched(kAll, {.overrides = {{"lineer", DispatchPolicy::ForceCommon}}}); }),
      "User [dispatch] there is no op \"lineer\"");
  EXPECT_EQ(
      error_of([] { dispatched(kAll, {.overrides = {{"matmul", DispatchPolicy::ForceCommon}}}); }),
      "User [dispatch] matmul cannot be forced to primitives: it is one");
}

}  // namespace
}  // namespace tenon::legalize
