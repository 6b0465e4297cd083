// What the fusion tests share: running the passes in the pipeline's order, counting ops, and
// comparing a fused graph with its source on the interpreter, with symbolic extents bound to small
// ones.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "fuse/fuse.h"
#include "graph/graph.h"

namespace tenon::fuse {

using graph::Activation;
using graph::Graph;
using graph::Node;
using graph::Op;
using graph::Value;

constexpr int64_t kBatch = 2;
constexpr int64_t kSeq = 3;

Graph fuse_all(const Graph& graph, const graph::Claims& claims = {});

int count(const Graph& graph, Op op);
const Node* only(const Graph& graph,
                 Op op);  // the one node of this op, else a test failure and null

// Random inputs and parameters, the same for both; outputs agree to `tolerance`, absolute and
// relative.
void expect_same_results(const Graph& source, const Graph& fused, double tolerance = 1e-6);

inline Value f32_input(Graph& g, const std::string& name, Shape shape) {
  return g.input(name, {std::move(shape), DType::F32});
}
inline Value f32_param(Graph& g, const std::string& name, Shape shape) {
  return g.param(name, {std::move(shape), DType::F32});
}
inline Value f32(Graph& g, double value) { return g.scalar(DType::F32, value); }

}  // namespace tenon::fuse
