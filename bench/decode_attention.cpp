#include "bench/decode_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bench/report.h"
#include "bench/subject.h"
#include "measure/bandwidth_probe.h"
#include "tenon/tenon.h"

namespace tenon::bench {
namespace {

constexpr int64_t kHeads = 16, kKvHeads = 4, kWidth = 128;
constexpr int64_t kLength = 2048;  // of the cache, which it fills
// Together their caches are larger than those of a CPU: each token reads its own from memory.
constexpr int64_t kSequences = 16;
constexpr double kGate = 0.7;  // the share of the read probe

Graph attention_of_tokens() {
  Graph g;
  const Dim batch = sym::batch(), seq = sym::seq(), past = sym::past();
  const auto rows = [&](const char* name, int64_t heads) {
    return g.input(name, {{batch, seq, heads * kWidth}, DType::F32});
  };
  const auto cache = [&](const char* name) {
    return g.state(name, {{batch, past, kKvHeads * kWidth}, DType::F32},
                   {.axis = 1, .capacity = kLength});
  };
  const Value keys = g.update(cache("keys"), rows("k", kKvHeads), past);
  const Value values = g.update(cache("values"), rows("v", kKvHeads), past);
  g.set_outputs({{"y", g.attention(rows("q", kHeads), keys, values,
                                   {.heads = kHeads, .kv_heads = kKvHeads, .causal = true})}});
  return g;
}

}  // namespace

bool time_decode_attention() {
  CompiledGraph compiled = Session({.threads = 1}).compile(attention_of_tokens());
  const std::vector<float> past(kSequences * (kLength - 1) * kKvHeads * kWidth, 0.5F);
  const std::vector<float> token(kSequences * kHeads * kWidth, 0.5F);
  const auto rows = [&](int64_t heads) {
    const auto count = static_cast<size_t>(kSequences * heads * kWidth);
    return view(std::span(token).first(count), {kSequences, 1, heads * kWidth});
  };
  for (const char* name : {"keys", "values"})
    compiled.bind_handle(name, view(past, {kSequences, kLength - 1, kKvHeads * kWidth}));
  const auto read_token = [&] {
    compiled.run_raw({{"q", rows(kHeads)}, {"k", rows(kKvHeads)}, {"v", rows(kKvHeads)}});
    for (const char* name : {"keys", "values"}) compiled.trim_handle(name, kLength - 1);
  };
  read_token();
  const double bytes = 2.0 * kLength * kKvHeads * kWidth * sizeof(float);  // of a cache
  constexpr int kRounds = 7, kRuns = 3;
  std::vector<double> times, probes, shares;
  for (int round = 0; round < kRounds; ++round) {
    const double before = measure::read_rate();
    const auto start = Clock::now();
    for (int i = 0; i < kRuns; ++i) read_token();
    times.push_back(seconds_since(start) / kRuns / kSequences);
    probes.push_back(std::max(before, measure::read_rate()));
    shares.push_back(bytes / 1e9 / times.back() / probes.back());
  }
  const double share = median(shares);
  fmt::print(
      R"({{"bench": "decode_attention", "length": {}, "cache_mb": {:.2f}, "token_ms": {:.3f}, )"
      R"("gbps": {:.2f}, "probe": {:.2f}, "share": {:.3f}, "gate": {}, "met": {}}})"
      "\n",
      kLength, bytes / 1e6, median(times) * 1e3, bytes / 1e9 / median(times), median(probes), share,
      kGate, share >= kGate);
  std::fflush(stdout);
  return share >= kGate;
}

}  // namespace tenon::bench
