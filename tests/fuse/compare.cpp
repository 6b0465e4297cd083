// Random data from a fixed seed per name, so that a tensor is the same in both graphs and in every
// run.
#include "tests/fuse/compare.h"

#include <cmath>
#include <random>

#include "graph/interpret.h"

namespace tenon::fuse {
namespace {

int64_t extent(const Dim& dim) {
  return dim
      .evaluate([](const Symbol& symbol) -> std::optional<int64_t> {
        if (symbol == sym::batch()) return kBatch;
        if (symbol == sym::seq()) return kSeq;
        return std::nullopt;
      })
      .value();
}

graph::Tensor random_tensor(Value leaf) {
  graph::Tensor tensor{.dtype = leaf.dtype()};
  int64_t elements = 1;
  for (const Dim& dim : leaf.shape()) {
    tensor.shape.push_back(extent(dim));
    elements *= tensor.shape.back();
  }
  int64_t size = size_of(tensor.dtype);
  tensor.bytes.resize(static_cast<size_t>(elements * size));
  std::seed_seq seed(leaf.node->name().begin(), leaf.node->name().end());
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int64_t i = 0; i < elements; ++i) {
    store_from_f64(tensor.dtype, tensor.bytes.data() + i * size, uniform(generator));
  }
  return tensor;
}

std::vector<graph::Tensor> run(const Graph& graph) {
  std::map<std::string, graph::Tensor> inputs;
  for (Value leaf : graph.inputs()) inputs[leaf.node->name()] = random_tensor(leaf);
  for (Value leaf : graph.params()) inputs[leaf.node->name()] = random_tensor(leaf);
  return graph::interpret(graph, inputs);
}

}  // namespace

Graph fuse_all(const Graph& graph, const graph::Claims& claims) {
  Graph fused = fuse_gelu(graph, claims);
  for (auto pass : {fuse_silu, fuse_softmax, fuse_layer_norm, fuse_rms_norm, fuse_rotary,
                    fuse_attention, fuse_linear, fuse_gated_linear, fuse_shared_input}) {
    fused = pass(fused, claims);
  }
  return fused;
}

int count(const Graph& graph, Op op) {
  int found = 0;
  for (const Node* node : graph.topological()) found += node->op() == op;
  return found;
}

const Node* only(const Graph& graph, Op op) {
  EXPECT_EQ(count(graph, op), 1) << graph::print(graph);
  for (const Node* node : graph.topological()) {
    if (node->op() == op) return node;
  }
  return nullptr;
}

void expect_same_results(const Graph& source, const Graph& fused, double tolerance) {
  graph::verify(fused);
  std::vector<graph::Tensor> expected = run(source);
  std::vector<graph::Tensor> actual = run(fused);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(actual[i].shape, expected[i].shape);
    ASSERT_EQ(actual[i].dtype, expected[i].dtype);
    int64_t size = size_of(expected[i].dtype);
    for (int64_t e = 0; e < expected[i].elements(); ++e) {
      double want = load_as_f64(expected[i].dtype, expected[i].bytes.data() + e * size);
      double got = load_as_f64(actual[i].dtype, actual[i].bytes.data() + e * size);
      ASSERT_LE(std::abs(got - want), tolerance * (1 + std::abs(want))) << "element " << e;
    }
  }
}

}  // namespace tenon::fuse
