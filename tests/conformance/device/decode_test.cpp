// A cache of keys and values on every device: reading a token at a time gives what reading all of
// them at once does, and what the same layer gives without any cache.
#include <cmath>

#include "tests/conformance/device/subject.h"

namespace tenon::device_test {
namespace {

using Floats = std::vector<float>;

constexpr int64_t kHeads = 4, kKvHeads = 2, kHeadDim = 4;
constexpr int64_t kHidden = kHeads * kHeadDim, kKv = kKvHeads * kHeadDim, kCapacity = 32;

Floats numbers(int64_t count, float seed) {
  Floats result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(std::sin(static_cast<float>(i * i % 101) + seed));
  return result;
}

class DeviceDecode : public DeviceSuite {
 protected:
  // y = x + attention(x wq, past and x wk, past and x wv)
  static Graph layer(bool cached) {
    Graph g;
    const Value x = g.input("x", {{1, sym::seq(), kHidden}, DType::F32});
    const auto keep = [&](const std::string& name, const Value& rows) {
      if (!cached) return rows;
      const TensorType type{{1, sym::past(), kKv}, DType::F32};
      const Value state = g.state(name, type, {.axis = 1, .capacity = kCapacity});
      return g.update(state, rows, sym::past());
    };
    const Value q = g.matmul(x, weight(g, "wq", kHidden));
    const Value k = keep("keys", g.matmul(x, weight(g, "wk", kKv)));
    const Value v = keep("values", g.matmul(x, weight(g, "wv", kKv)));
    g.set_outputs({{"y", g.add(x, g.attention(q, k, v,
                                              {.heads = kHeads,
                                               .head_dim = kHeadDim,
                                               .kv_heads = kKvHeads,
                                               .causal = true}))}});
    return g;
  }
  static Value weight(Graph& g, const std::string& name, int64_t columns) {
    const Floats values = numbers(kHidden * columns, static_cast<float>(name[1]));
    return g.param(name, {{kHidden, columns}, DType::F32}, std::as_bytes(std::span(values)));
  }
  static void begin(CompiledGraph& graph) {
    for (const char* name : {"keys", "values"})
      graph.bind_handle(name, TensorView(nullptr, DType::F32, {1, 0, kKv}));
  }
  // Reads x's rows, so many at a time, from the first.
  static Floats read(CompiledGraph& graph, const Floats& x, const std::vector<int64_t>& counts) {
    Floats y;
    int64_t at = 0;
    for (const int64_t count : counts) {
      const std::span<const float> rows(x.data() + at * kHidden,
                                        static_cast<size_t>(count * kHidden));
      const Floats some = graph.run({{"x", view(rows, {1, count, kHidden})}})[0];
      y.insert(y.end(), some.begin(), some.end());
      at += count;
    }
    return y;
  }
};

TEST_P(DeviceDecode, ReadsTokenByTokenWhatItReadsAtOnce) {
  constexpr int64_t kTokens = 20;
  const Floats x = numbers(kTokens * kHidden, 0.5F);
  CompiledGraph plain = compile(layer(false)), graph = compile(layer(true));
  const Floats expected = read(plain, x, {kTokens});
  begin(graph);
  expect(read(graph, x, {kTokens}), expected, 1e-4F);
  const Floats keys = floats(graph.read_handle("keys").value());
  begin(graph);
  expect(read(graph, x, std::vector<int64_t>(kTokens, 1)), expected, 1e-4F);
  expect(floats(graph.read_handle("keys").value()), keys, 1e-4F);
  begin(graph);
  expect(read(graph, x, {7, 1, 1, 3, 8}), expected, 1e-4F);
}

TEST_P(DeviceDecode, GoesOnFromAPastThatWasTrimmed) {
  const Floats x = numbers(6 * kHidden, 0.5F);
  CompiledGraph graph = compile(layer(true));
  begin(graph);
  const Floats expected = read(graph, x, {6});
  for (const char* name : {"keys", "values"}) graph.trim_handle(name, 4);
  const Floats last_two(x.begin() + 4 * kHidden, x.end());
  expect(read(graph, last_two, {1, 1}), {expected.begin() + 4 * kHidden, expected.end()}, 1e-4F);
}

TENON_ON_EVERY_DEVICE(DeviceDecode);

}  // namespace
}  // namespace tenon::device_test
