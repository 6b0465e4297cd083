// The compiler stage by stage, and the ways of running what it makes: reports, a plan as data,
// precision policies, clones, and runs that allocate nothing.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <thread>

#include "tenon/tenon.h"

namespace {

constexpr int64_t kHidden = 64, kInner = 256, kRows = 3;

std::vector<float> numbers(size_t count, float scale) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = scale * std::sin(static_cast<float>(i));
  return values;
}

tenon::GraphModule feed_forward() {
  return tenon::GraphModule::define("feed_forward", [](tenon::HirModule& m) {
    const auto weight = [&](const char* name, int64_t rows, int64_t columns) {
      return m.param(name, {{rows, columns}, tenon::DType::F32});
    };
    const tenon::HirValue x = m.input("x", {{tenon::sym::batch(), kHidden}, tenon::DType::F32});
    const tenon::HirValue normed = m.rms_norm(x, m.param("scale", {{kHidden}, tenon::DType::F32}));
    return m.swiglu(normed,
                    {weight("gate", kHidden, kInner), weight("up", kHidden, kInner),
                     weight("down", kInner, kHidden)},
                    {.residual = x});
  });
}

void set_weights(tenon::CompiledGraph& graph) {
  graph.set_param("scale", std::vector<float>(kHidden, 1));
  for (const char* name : {"gate", "up", "down"})
    graph.set_param(name, numbers(kHidden * kInner, 0.1F));
}

}  // namespace

int main() {
  const tenon::GraphModule model = feed_forward();

  // What the compiler does, up to a plan.
  const tenon::CompilePipeline pipeline;
  const tenon::CompileResult result = pipeline.compile_module(model);
  const tenon::BufferPlan& plan = result.lir.plan();
  std::printf("%d gated, %d native linears; %zu steps, arena of %s bytes\n",
              result.fusion.found("fused_swiglu"), result.dispatch.rows.at("linear").native,
              plan.order.size(), plan.arena_size.to_string().c_str());
  const tenon::LirModule fixed = pipeline.specialize_lir(result.lir, {{"batch", kRows}});
  std::printf("for %d rows: %s bytes; fingerprint %.12s...\n", static_cast<int>(kRows),
              fixed.plan().arena_size.to_string().c_str(), fixed.fingerprint().c_str());

  // Code, a run, and the same run on another thread by a clone.
  const std::vector<float> x = numbers(kRows * kHidden, 1);
  tenon::CompiledGraph compiled = tenon::Session().compile(result.lir);
  set_weights(compiled);
  const std::vector<float> y = compiled.run({{"x", tenon::view(x, {kRows, kHidden})}})[0];
  std::vector<float> of_clone;
  tenon::CompiledGraph clone = compiled.clone();
  std::thread([&] { of_clone = clone.run({{"x", tenon::view(x, {kRows, kHidden})}})[0]; }).join();
  std::printf("a clone gives %s\n", of_clone == y ? "the same bits" : "other numbers");

  // Inputs by position, outputs where they lie: no allocation, no names.
  compiled.set_extents({{"batch", kRows}});
  const std::span<const std::byte> inputs[] = {std::as_bytes(std::span(x))};
  const tenon::OutputSlot slot = compiled.run_slots(inputs)[0];
  const auto* raw = reinterpret_cast<const float*>(compiled.arena_ptr() + slot.offset);
  std::printf("slots give %s\n", std::equal(y.begin(), y.end(), raw) ? "the same bits" : "others");

  // Numbers stored in 16 bits.
  tenon::CompiledGraph low =
      tenon::Session().with_policy(tenon::PrecisionPolicy::AlwaysBf16).compile(model);
  set_weights(low);
  const std::vector<float> rounded = low.run({{"x", tenon::view(x, {kRows, kHidden})}})[0];
  float error = 0;
  for (size_t i = 0; i < y.size(); ++i) error = std::max(error, std::abs(y[i] - rounded[i]));
  std::printf("in bf16: off by at most %s\n", error < 0.1F ? "a tenth" : "much");
  return 0;
}
