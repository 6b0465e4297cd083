// What the compiler tells about a model: which patterns it fused, which it missed and why, and
// which ops ran as kernels of the backend, and how to decide that otherwise. Then what each kernel
// of a run takes, beside what this machine could do at best.
#include <cstdio>

#include "tenon/tenon.h"

namespace {

using tenon::DispatchPolicy;

constexpr int64_t kHidden = 64;

tenon::Graph model() {
  tenon::Graph g;
  const auto weight = [&](const char* name, const tenon::Shape& shape) {
    return g.param(name, {shape, tenon::DType::F32});
  };
  const tenon::Value x =
      g.input("x", {tenon::Shape::batch_seq(tenon::sym::batch(), tenon::sym::seq(), kHidden),
                    tenon::DType::F32});
  g.set_origin("attention");
  const tenon::Value a = g.add(g.attention(x, x, x, {.heads = 4, .head_dim = 16}), x);
  g.set_origin("mlp");  // as an exporter writes it: the compiler makes one kernel of it
  const tenon::Value y =
      g.gelu(g.add(g.mm(a, weight("w", {kHidden, kHidden})), weight("b", {kHidden})));
  g.set_outputs({{"y", y}});
  return g;
}

void show(const char* title, const tenon::FusionReport& fusion,
          const tenon::DispatchReport& dispatch) {
  std::printf("%s\n", title);
  for (const tenon::FusionReport::Count& count : fusion.counts) {
    if (count.found > 0)
      std::printf("  %s: %d, written so: %d\n", count.pattern.c_str(), count.found, count.before);
  }
  for (const tenon::FusionReport::Missed& missed : fusion.missed)
    std::printf("  missed %s in %s: %s; %s\n", missed.pattern.c_str(), missed.origin.c_str(),
                missed.reason.c_str(), missed.hint.c_str());
  for (const auto& [op, row] : dispatch.rows) {
    if (row.common > 0) std::printf("  %s: %d as primitives\n", op.c_str(), row.common);
  }
}

void show(const char* title, const tenon::CompileOptions& options) {
  const tenon::CompiledGraph compiled = tenon::Session().compile(model(), options);
  show(title, compiled.fusion_report(), compiled.dispatch_report());
  std::printf("  %d steps\n", compiled.stats().steps);
}

const char* name_of(tenon::Bound bound) {
  switch (bound) {
    case tenon::Bound::Compute:
      return "computing";
    case tenon::Bound::Cache:
      return "a cache";
    case tenon::Bound::Memory:
      return "memory";
  }
  return "";
}

// Short slices and few runs: for a look, not for a figure.
void show_receipts() {
  tenon::CompiledGraph graph = tenon::Session().compile(model());
  graph.set_param("w", std::vector<float>(kHidden * kHidden, 0.01F));
  graph.set_param("b", std::vector<float>(kHidden, 0.5F));
  const std::vector<float> x(32 * kHidden, 1);
  const tenon::RunReceipt receipt =
      graph.receipt({{"x", tenon::view(x, {1, 32, kHidden})}}, {.seconds = 0, .slice_ms = 1});
  std::printf("a run takes %.4f ms, the machine at best %.4f\n", receipt.milliseconds,
              receipt.floor_ms);
  for (const tenon::KernelReceipt& kernel : receipt.kernels)
    std::printf("  %s of %s: %.0f%% of the run at %.0f%% of its limit, bound by %s (%s)\n",
                kernel.name.c_str(), kernel.origins[0].c_str(), 100 * kernel.share_of_run,
                100 * kernel.share_of_limit(), name_of(kernel.bound), kernel.limit.c_str());
  for (const std::string& line : receipt.below(0.8, 0.5)) std::printf("  %s\n", line.c_str());
  std::printf("receipts of %zu kernels\n", receipt.kernels.size());
}

}  // namespace

int main() {
  show("as it comes", {});
  show("attention as primitives", {.dispatch = tenon::DispatchOptions{
                                       .policy = DispatchPolicy::PreferNative,
                                       .overrides = {{"attention", DispatchPolicy::ForceCommon}}}});
  show("no linears with bias and activation", {.fusion = {.skip = {{"fuse_linear"}}}});
  show("small kernels",
       {.fusion = {.limits = tenon::FusionLimits{.max_steps = 2, .max_inputs = 4}}});

  // The same from the pipeline, with a backend that claims primitives only.
  tenon::CompilePipeline pipeline;
  pipeline.set_dispatch({.policy = DispatchPolicy::ForceCommon});
  const tenon::CompileResult common = pipeline.compile_mir(model());
  show("primitives only", common.fusion, common.dispatch);
  std::printf("%.27s...\n%.15s...\n", common.fusion.to_json().c_str(),
              common.dispatch.to_json().c_str());

  // Where a pattern must not be missed.
  tenon::CompilePipeline strict = pipeline;
  strict.set_fusion({.assert_clean = true});
  try {
    strict.compile_mir(model());
  } catch (const tenon::Error& error) {
    std::printf("%s: %.37s...\n",
                error.kind() == tenon::ErrorKind::Unsupported ? "refused" : "another error",
                error.what());
  }
  tenon::check_fusion_clean(tenon::CompilePipeline().compile_mir(model()).fusion);
  std::printf("nothing is missed\n");

  show_receipts();
  return 0;
}
