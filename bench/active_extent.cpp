// What a bucket costs: a layer of an encoder compiled for 512 rows and run at 32, beside the same
// layer compiled for 32.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "bench/program.h"
#include "bench/report.h"
#include "bench/subject.h"
#include "tenon/tenon.h"

namespace tenon::bench {
namespace {

constexpr int64_t kUpper = 512, kActual = 32, kHidden = 384, kHeads = 6, kWide = 4 * kHidden;

Value weights(Graph& g, const std::string& name, const Shape& shape) {
  std::vector<float> data;
  for (int64_t i = 0; i < shape.elements().const_value(); ++i)
    data.push_back(static_cast<float>(i * 7 % 31 - 15) / 1000.0F);
  return g.param(name, {shape, DType::F32}, std::as_bytes(std::span(data)));
}

Graph layer(int64_t rows) {
  Graph g;
  const Value x = g.input("x", {{1, rows, kHidden}, DType::F32});
  const auto linear = [&](const Value& from, const std::string& name, int64_t inner, int64_t outer,
                          ActivationKind activation = ActivationKind::None) {
    return g.linear(from, weights(g, name, {inner, outer}), weights(g, name + ".bias", {outer}), {},
                    activation);
  };
  const auto norm = [&](const Value& from, const std::string& name) {
    return g.layer_norm(from, weights(g, name, {kHidden}), weights(g, name + ".bias", {kHidden}));
  };
  const Value q = linear(x, "q", kHidden, kHidden), k = linear(x, "k", kHidden, kHidden);
  const Value v = linear(x, "v", kHidden, kHidden);
  const Value seen = g.attention(q, k, v, {.heads = kHeads, .head_dim = kHidden / kHeads});
  const Value added = norm(g.add(x, linear(seen, "out", kHidden, kHidden)), "norm1");
  const Value wide = linear(added, "up", kHidden, kWide, ActivationKind::Gelu);
  const Value y = norm(g.add(added, linear(wide, "down", kWide, kHidden)), "norm2");
  g.set_outputs({{"y", y}, {"pooled", g.reduce_mean(y, {1})}});
  return g;
}

// In turns, and each pair by itself, so that what else the machine does falls on both.
bool run(std::span<char* const>) {
  constexpr int kRounds = 101, kRuns = 5;
  CompiledGraph bucket = Session().compile(layer(kUpper), {.threads = 1});
  bucket.set_active_extent(kActual, kUpper);
  CompiledGraph exact = Session().compile(layer(kActual), {.threads = 1});
  const std::vector<float> x(kActual * kHidden, 0.5F);
  const std::vector<std::span<const std::byte>> inputs = {std::as_bytes(std::span(x))};
  const auto time = [&](CompiledGraph& graph) {
    const auto start = Clock::now();
    for (int i = 0; i < kRuns; ++i) graph.run_slots(inputs);
    return seconds_since(start) / kRuns * 1e6;
  };
  std::vector<double> of_bucket, of_exact, ratios;
  for (int round = -3; round < kRounds; ++round) {
    const double first = time(bucket), second = time(exact);
    if (round < 0) continue;
    of_bucket.push_back(first);
    of_exact.push_back(second);
    ratios.push_back(first / second);
  }
  return report(
      "active_extent", "times_exact", median(ratios), 1.15,
      fmt::format(", \"us\": {:.1f}, \"exact_us\": {:.1f}", median(of_bucket), median(of_exact)));
}

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::program("bench_active_extent", tenon::bench::run, argc, argv);
}
