// A row has the same bits alone, in a batch of 7 or of 512, with 1 thread or 2, on AVX2 and
// AVX-512, with memory larger than what is in it, and with keys behind the last masked off.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "tests/driver/run_graph.h"
#include "tests/driver/small_encoder.h"
#include "tests/full.h"
#include "tests/lower/graph_cases.h"

namespace tenon::graph_test {
namespace {

// The tensor with `row` of `source`, along axis 0, in place `at`.
void set_row(graph::Tensor& tensor, int64_t at, const graph::Tensor& source) {
  const size_t bytes = tensor.bytes.size() / static_cast<size_t>(tensor.shape[0]);
  ASSERT_EQ(source.bytes.size(), bytes);
  std::memcpy(&tensor.bytes[static_cast<size_t>(at) * bytes], source.bytes.data(), bytes);
}

bool row_equals(const graph::Tensor& tensor, int64_t at, const graph::Tensor& row) {
  const size_t bytes = tensor.bytes.size() / static_cast<size_t>(tensor.shape[0]);
  return row.bytes.size() == bytes &&
         std::memcmp(&tensor.bytes[static_cast<size_t>(at) * bytes], row.bytes.data(), bytes) == 0;
}

// Batches to put a row into; in full every remainder of every tile.
std::vector<int64_t> batches() {
  std::vector<int64_t> result = {1, 7, 512};
  for (int64_t batch = 2; full_tests() && batch <= 50; ++batch) result.push_back(batch);
  return result;
}

// Every input of the graph has b as its first axis; every output too.
void expect_rows_keep_their_bits(const Graph& g, Extents extents) {
  extents["b"] = 1;
  const Tensors alone = random_tensors(g, extents);
  std::vector<graph::Tensor> expected;
  for (const CpuIsa isa : isas_here()) {
    RunGraph compiled(g, isa);
    for (const int threads : {1, 2}) {
      compiled.set_threads(threads);
      for (const int64_t batch : batches()) {
        for (const int64_t spare : {0, 5}) {
          const int64_t at = batch * 2 / 3;
          Tensors inputs = alone;
          extents["b"] = batch;
          for (const Value& leaf : g.inputs()) {
            graph::Tensor& tensor = inputs[leaf.node->name()];
            tensor = random_tensor(leaf, extents, 99);
            set_row(tensor, at, alone.at(leaf.node->name()));
          }
          const auto actual = compiled.run(inputs, spare);
          if (expected.empty()) expected = actual;
          for (size_t i = 0; i < actual.size(); ++i) {
            EXPECT_TRUE(row_equals(actual[i], at, expected[i]))
                << g.outputs()[i].name << " with " << text_of(extents) << "threads " << threads
                << " spare " << spare << " on " << to_string(isa);
          }
        }
      }
    }
  }
}

TEST(Bits, RowsOfLinearsKeepTheirBits) {
  Graph g;
  const Value x = in(g, "x", {kB, 33}), r = in(g, "r", {kB, 50});
  const Value y = g.linear(x, par(g, "w", {33, 50}), par(g, "v", {50}), r, Activation::Gelu);
  g.set_outputs({{"y", y}, {"z", g.linear(y, par(g, "u", {50, 17}), {}, {}, Activation::Tanh)}});
  expect_rows_keep_their_bits(g, {});
}

TEST(Bits, RowsOfNormsAndReductionsKeepTheirBits) {
  Graph g;
  const Value x = in(g, "x", {kB, kS, 40}), w = par(g, "w", {40});
  g.set_outputs({{"norm", g.layer_norm(x, w, w, 1e-5)},
                 {"softmax", g.softmax(x, 2)},
                 {"mean", g.reduce(Op::ReduceMean, x, {1})},
                 {"max", g.reduce(Op::ReduceMax, x, {2})}});
  expect_rows_keep_their_bits(g, {{"s", 7}});
}

TEST(Bits, RowsOfAttentionKeepTheirBits) {
  Graph g;
  const Value q = in(g, "q", {kB, kS, 64}), k = in(g, "k", {kB, kT, 32}),
              v = in(g, "v", {kB, kT, 32});
  const Value mask = in(g, "mask", {kB, 1, 1, kT});
  g.set_outputs(
      {{"y", g.attention(q, k, v, {.heads = 4, .head_dim = 16, .kv_heads = 2, .mask = mask})}});
  expect_rows_keep_their_bits(g, {{"s", 3}, {"t", 5}});
  expect_rows_keep_their_bits(g, {{"s", 2}, {"t", 67}});
}

// One query's result does not depend on how many others there are.
TEST(Bits, QueriesOfAttentionKeepTheirBits) {
  Graph g;
  const Value q = in(g, "q", {1, kS, 32}), k = in(g, "k", {1, kT, 32}), v = in(g, "v", {1, kT, 32});
  g.set_outputs({{"y", g.attention(q, k, v, {.heads = 2, .head_dim = 16})}});
  const Extents extents = {{"s", 120}, {"t", 70}};
  const Tensors inputs = random_tensors(g, extents);
  RunGraph compiled(g, isas_here().back());
  const graph::Tensor all = compiled.run(inputs)[0];
  for (const int64_t queries : {1, 5, 13, 97}) {
    Tensors fewer = inputs;
    fewer["q"].shape[1] = queries;
    fewer["q"].bytes.resize(static_cast<size_t>(queries) * 32 * 4);
    const graph::Tensor some = compiled.run(fewer)[0];
    EXPECT_EQ(std::memcmp(some.bytes.data(), all.bytes.data(), some.bytes.size()), 0) << queries;
  }
}

// Keys behind the last that counts, masked with -inf, leave no trace; their values are finite.
TEST(Bits, MaskedTrailingKeysLeaveNoTrace) {
  Graph g;
  const Value q = in(g, "q", {1, kS, 32}), k = in(g, "k", {1, kT, 32}), v = in(g, "v", {1, kT, 32});
  const Value mask = in(g, "mask", {1, 1, 1, kT});
  g.set_outputs({{"y", g.attention(q, k, v, {.heads = 2, .head_dim = 16, .mask = mask})}});
  const float masked = -std::numeric_limits<float>::infinity();
  for (const CpuIsa isa : isas_here()) {
    RunGraph compiled(g, isa);
    for (const int64_t kept : {1, 13, 63, 64, 65, 129}) {
      Tensors longer = random_tensors(g, {{"s", 5}, {"t", 200}});
      Tensors shorter = longer;
      for (const char* name : {"k", "v", "mask"}) {
        graph::Tensor& tensor = shorter[name];
        int64_t& extent = tensor.shape[name[0] == 'm' ? 3 : 1];
        tensor.bytes.resize(tensor.bytes.size() / 200 * static_cast<size_t>(kept));
        extent = kept;
      }
      for (size_t i = static_cast<size_t>(kept); i < 200; ++i) {
        std::memcpy(&longer["mask"].bytes[i * 4], &masked, 4);
      }
      EXPECT_EQ(compiled.run(longer)[0].bytes, compiled.run(shorter)[0].bytes) << kept;
    }
  }
}

// The encoder through the public API.
class EncoderBits : public ::testing::Test {
 protected:
  // Rows are told apart by a seed; `valid` tokens of them count, the others are masked.
  static Request request(int64_t batch, int64_t seq, int64_t at, int64_t valid, int64_t spare = 0) {
    Request r(batch, seq, spare);
    for (int64_t row = 0; row < batch; ++row) {
      for (int64_t i = 0; i < seq; ++i) {
        const int64_t seed = row == at ? 5 : row + 100;
        r.set(row, i, (seed * 37 + i * 11) % kVocab, row == at && i >= valid ? 0 : 1);
      }
    }
    return r;
  }
  static std::vector<float> run(CompiledGraph& graph, Request r, int64_t at, int64_t valid) {
    graph.run_into(r.inputs, r.outputs);
    return r.hidden_row(at, valid);
  }
  static bool same(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
  }
};

TEST_F(EncoderBits, ARowKeepsItsBits) {
  std::vector<float> expected;
  for (const char* cpu : cpus_here()) {
    CompiledGraph graph = small_encoder({.threads = 1, .cpu = cpu, .dim_bounds = {}});
    for (const int threads : {1, 2}) {
      if (threads > graph.threads() && threads > usable_threads()) continue;
      graph.set_threads(threads);
      for (const int64_t batch : batches()) {
        for (const int64_t spare : {0, 6}) {
          const int64_t at = batch * 2 / 3;
          const auto row = run(graph, request(batch, 11, at, 11, spare), at, 11);
          if (expected.empty()) expected = row;
          EXPECT_TRUE(same(row, expected))
              << "batch " << batch << " threads " << threads << " spare " << spare << " " << cpu;
        }
      }
    }
  }
}

TEST_F(EncoderBits, MaskedTrailingTokensLeaveNoTrace) {
  for (const char* cpu : cpus_here()) {
    CompiledGraph graph = small_encoder({.threads = 0, .cpu = cpu, .dim_bounds = {}});
    for (const auto& [valid, seq] : {std::pair{1, 2}, {13, 20}, {13, 70}, {64, 70}, {65, 150}}) {
      const auto expected = run(graph, request(1, valid, 0, valid), 0, valid);
      EXPECT_TRUE(same(run(graph, request(1, seq, 0, valid), 0, valid), expected))
          << valid << " of " << seq << " on " << cpu;
      EXPECT_TRUE(same(run(graph, request(7, seq, 4, valid, 3), 4, valid), expected))
          << valid << " of " << seq << " in a batch of 7 on " << cpu;
    }
  }
}

}  // namespace
}  // namespace tenon::graph_test
