// A stack of decoder blocks (RMSNorm, rotary, grouped heads, SwiGLU) with a cache of keys and
// values, on a CPU or a GPU: its numbers against the interpreter of the tensor IR, a text read
// token by token against one read at once, then how fast a token is, where a run does little but
// read the weights: beside a loop that only reads. Then the same for attention to a long cache.
//
//   bench_decoder [ROW...] [--device cpu|cuda] [--check]     check_f32, check_bf16, f32, bf16,
//   attention (CPUs only); --check: the first two
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "api/graph_state.h"
#include "base/error.h"
#include "bench/decode_attention.h"
#include "bench/program.h"
#include "bench/report.h"
#include "bench/subject.h"
#include "graph/interpret.h"
#include "measure/bandwidth_probe.h"
#include "tenon/tenon.h"

namespace tenon::bench {
namespace {

struct Sizes {
  int64_t hidden, heads, kv_heads, ffn;
  int blocks;
};
struct Row {
  const char* name;
  Sizes sizes;
  PrecisionPolicy policy;
  double gate;  // of check: the largest difference over the root mean square; else the share of the
                // read probe
};
constexpr Row kChecks[] = {{"check_f32", {256, 8, 2, 704, 2}, PrecisionPolicy::AlwaysF32, 1e-5},
                           {"check_bf16", {256, 8, 2, 704, 2}, PrecisionPolicy::AlwaysBf16, 5e-2}};
// More weights than 512 MB: no cache holds any of them until the next token.
constexpr Row kTimed[] = {{"f32", {2048, 16, 4, 5632, 4}, PrecisionPolicy::AlwaysF32, 0.85},
                          {"bf16", {2048, 16, 4, 5632, 6}, PrecisionPolicy::AlwaysBf16, 0.85}};

constexpr int64_t kCapacity = 2048;

int64_t kv_width_of(const Sizes& sizes) { return sizes.hidden / sizes.heads * sizes.kv_heads; }
std::vector<std::string> cache_names(const Sizes& sizes) {
  std::vector<std::string> names;
  for (int block = 0; block < sizes.blocks; ++block) {
    for (const char* what : {"keys", "values"}) names.push_back(fmt::format("{}.{}", block, what));
  }
  return names;
}

// Blocks whose parameters are to be set.
HirModule stack(const Sizes& sizes, bool cached) {
  HirModule m;
  HirValue x = m.input_batch_seq("x", sizes.hidden);
  const int64_t kv_width = kv_width_of(sizes);
  for (int block = 0; block < sizes.blocks; ++block) {
    const auto param = [&](const char* name, const Shape& shape) {
      return m.param(fmt::format("{}.{}", block, name), {shape, DType::F32});
    };
    const hir::DecoderWeights weights = {.attention_norm = param("attention_norm", {sizes.hidden}),
                                         .q = {param("q", {sizes.hidden, sizes.hidden})},
                                         .k = {param("k", {sizes.hidden, kv_width})},
                                         .v = {param("v", {sizes.hidden, kv_width})},
                                         .output = {param("output", {sizes.hidden, sizes.hidden})},
                                         .ffn_norm = param("ffn_norm", {sizes.hidden}),
                                         .ffn = {.gate = param("gate", {sizes.hidden, sizes.ffn}),
                                                 .up = param("up", {sizes.hidden, sizes.ffn}),
                                                 .down = param("down", {sizes.ffn, sizes.hidden})}};
    hir::AttentionOptions attention = {
        .heads = sizes.heads, .kv_heads = sizes.kv_heads, .causal = true};
    const auto state = [&](const char* name) {
      return m.state(fmt::format("{}.{}", block, name),
                     {{sym::batch(), sym::past(), kv_width}, DType::F32},
                     {.axis = 1, .capacity = kCapacity});
    };
    if (cached) attention.cache = {.keys = state("keys"), .values = state("values")};
    x = m.decoder_block(x, weights, {.attention = attention});
  }
  m.set_outputs({{"y", x}});
  return m;
}

std::vector<float> random_floats(int64_t count, float scale) {
  static std::mt19937 random(1);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    const auto unit = static_cast<float>(random()) / static_cast<float>(std::mt19937::max());
    value = scale * (2 * unit - 1);
  }
  return values;
}

graph::Tensor tensor(const std::vector<float>& values, std::vector<int64_t> shape) {
  const auto bytes = std::as_bytes(std::span(values));
  return {DType::F32, std::move(shape), {bytes.begin(), bytes.end()}};
}

// Sets every parameter; what was set, if asked for.
void set_params(CompiledGraph& compiled, std::map<std::string, graph::Tensor>* also = nullptr) {
  for (const TensorInfo& param : compiled.params()) {
    std::vector<int64_t> shape;
    int64_t count = 1;
    for (const std::string& extent : param.shape) {
      shape.push_back(std::stoll(extent));
      count *= shape.back();
    }
    // Sums of this many products stay about as large as what goes in.
    const float scale = shape.size() == 1 ? 1.F : std::sqrt(3.F / static_cast<float>(shape[0]));
    const std::vector<float> values = random_floats(count, scale);
    compiled.set_param(param.name, view(values, shape));
    if (also) (*also)[param.name] = tensor(values, shape);
  }
}

CompiledGraph compiled_stack(const Row& row, const Device& device, bool cached) {
  CompileOptions options = {.device = device, .threads = device == Device::Cpu() ? 1 : 0};
  options.precision_policy = PrecisionOptions{row.policy};
  return Session(options).compile(stack(row.sizes, cached));
}

// Nothing has been read yet.
void empty_caches(const Row& row, CompiledGraph& compiled) {
  for (const std::string& name : cache_names(row.sizes))
    compiled.bind_handle(name, TensorView(nullptr, DType::F32, {1, 0, kv_width_of(row.sizes)}));
}

// The largest difference over the root mean square.
class Difference {
 public:
  void add(double got, double want) {
    const double off = std::abs(got - want);
    most_ = std::isfinite(off) ? std::max(most_, off) : INFINITY;
    squares_ += want * want;
    count_ += 1;
  }
  double value() const { return most_ / std::sqrt(squares_ / count_); }

 private:
  double most_ = 0, squares_ = 0, count_ = 0;
};

bool tell(const Row& row, const Device& device, const char* what, double found, double gate) {
  fmt::print(R"({{"bench": "decoder_{}", "device": "{}", "{}": {:.3g}, "gate": {}, "met": {}}})"
             "\n",
             row.name, to_string(device), what, found, gate, found <= gate);
  std::fflush(stdout);
  return found <= gate;
}

bool check(const Row& row, const Device& device) {
  CompiledGraph compiled = compiled_stack(row, device, false);
  CompiledGraph cached = compiled_stack(row, device, true);
  std::map<std::string, graph::Tensor> tensors;
  set_params(compiled, &tensors);
  for (const auto& [name, value] : tensors)
    cached.set_param(name, TensorView(value.bytes.data(), value.dtype, value.shape));
  const graph::Graph g =
      GraphState::of(lower_hir(stack(row.sizes, false), FusionPolicy::Fusable)).graph;
  Difference from_interpreter, token_by_token;
  const int64_t width = row.sizes.hidden;
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{2, 33, width}, {1, 40, width}}) {
    const std::vector<float> x = random_floats(shape[0] * shape[1] * shape[2], 1);
    tensors["x"] = tensor(x, shape);
    const std::vector<float> actual = compiled.run({{"x", view(x, shape)}})[0];
    const graph::Tensor expected = graph::interpret(g, tensors)[0];
    for (size_t i = 0; i < actual.size(); ++i)
      from_interpreter.add(actual[i], load_as_f64(DType::F32, &expected.bytes[i * sizeof(float)]));
    if (shape[0] != 1) continue;
    empty_caches(row, cached);
    for (int64_t at = 0; at < shape[1];) {
      const int64_t count = at == 0 ? 25 : 1;
      const std::span<const float> tokens(x.data() + at * width,
                                          static_cast<size_t>(count * width));
      const std::vector<float> got = cached.run({{"x", view(tokens, {1, count, width})}})[0];
      for (size_t i = 0; i < got.size(); ++i)
        token_by_token.add(got[i], actual[static_cast<size_t>(at * width) + i]);
      at += count;
    }
  }
  const bool met = tell(row, device, "difference", from_interpreter.value(), row.gate);
  return tell(row, device, "token_by_token", token_by_token.value(), row.gate) && met;
}

bool time(const Row& row, const Device& device) {
  CompiledGraph compiled = compiled_stack(row, device, true);
  set_params(compiled);
  empty_caches(row, compiled);
  const std::vector<float> x = random_floats(row.sizes.hidden, 1);
  const TensorView token = view(x, {1, 1, row.sizes.hidden});
  compiled.run_raw({{"x", token}});
  const double element = row.policy == PrecisionPolicy::AlwaysBf16 ? 2 : 4;
  const double bytes = static_cast<double>(compiled.stats().weight_bytes) / 4 * element;
  constexpr int kRounds = 7, kRuns = 4;
  std::vector<double> shares, times, probes;
  for (int round = 0; round < kRounds; ++round) {
    const double before = device == Device::Cpu() ? measure::read_rate() : 0;
    const auto start = Clock::now();
    for (int i = 0; i < kRuns; ++i) compiled.run_raw({{"x", token}});
    const double seconds = seconds_since(start) / kRuns;
    const double probe = std::max(before, device == Device::Cpu() ? measure::read_rate() : 0);
    times.push_back(seconds);
    probes.push_back(probe);
    shares.push_back(probe > 0 ? bytes / 1e9 / seconds / probe : 0);
  }
  const double share = median(shares);
  const bool met = device != Device::Cpu() || share >= row.gate;
  fmt::print(
      R"({{"bench": "decoder_{}", "device": "{}", "weights_mb": {:.0f}, "token_ms": {:.3f}, )"
      R"("gbps": {:.2f}, "probe": {:.2f}, "share": {:.3f}, "gate": {}, "met": {}}})"
      "\n",
      row.name, to_string(device), bytes / 1e6, median(times) * 1e3, bytes / 1e9 / median(times),
      median(probes), share, row.gate, met);
  std::fflush(stdout);
  return met;
}

bool run(std::span<char* const> arguments) {
  std::vector<std::string> chosen(arguments.begin(), arguments.end());
  const bool only_checks = std::erase(chosen, "--check") > 0;
  Device device = Device::Cpu();
  if (const auto flag = std::ranges::find(chosen, "--device"); flag != chosen.end()) {
    if (flag + 1 == chosen.end() || (flag[1] != "cpu" && flag[1] != "cuda"))
      throw user_error("--device is cpu or cuda");
    if (flag[1] == "cuda") device = Device::Cuda(0);
    chosen.erase(flag, flag + 2);
  }
  const auto wanted = [&](const Row& row) {
    return chosen.empty() || std::ranges::count(chosen, row.name) > 0;
  };
  bool met = true;
  for (const Row& row : kChecks)
    if (wanted(row)) met = check(row, device) && met;
  for (const Row& row : kTimed)
    if (!only_checks && wanted(row)) met = time(row, device) && met;
  const bool attention = chosen.empty() || std::ranges::count(chosen, "attention") > 0;
  if (!only_checks && attention && device == Device::Cpu()) met = time_decode_attention() && met;
  return met;
}

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::program("bench_decoder", tenon::bench::run, argc, argv);
}
