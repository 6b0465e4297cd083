// Symbolic extents: a model whose sizes are formulas, run at any of them, planned for one of them,
// refused where they do not fit.
#include <cstdio>

#include "tenon/tenon.h"

namespace {

using tenon::DimBinding;

constexpr int64_t kHidden = 32;

// Tokens that are there already, and tokens that come, with a gate: all of them, normed.
tenon::Graph model() {
  const tenon::Symbol seq("seq", {1, 512}), other("other", {1, 512});
  const tenon::Dim batch = tenon::sym::batch(), past = tenon::sym::past();
  tenon::Graph g;
  const tenon::Value old = g.input("old", {{batch, past, kHidden}, tenon::DType::F32});
  const tenon::Value x = g.input("x", {{batch, seq, kHidden}, tenon::DType::F32});
  const tenon::Value gate = g.input("gate", {{batch, other, kHidden}, tenon::DType::F32});
  const tenon::Value gated =
      g.mul(x, g.sigmoid(gate));  // of equal length, or of 1: each run checks
  const tenon::Value scale = g.param("scale", {{kHidden}, tenon::DType::F32});
  const tenon::Value all = g.softmax(g.rms_norm(g.softmax(g.concat({old, gated}, 1)), scale));
  g.set_outputs({{"y", all}, {"sums", g.reduce_sum(all, {2})}});
  std::printf("y is %s\n", all.type().to_string().c_str());
  return g;
}

// Dims are integers with names: one algebra for shapes, sizes and offsets.
void algebra() {
  const tenon::Symbol n("n", {1, 100});
  const tenon::Dim pairs = floordiv(tenon::Dim(n) + 1, 2), padded = tenon::round_up(n, 16);
  std::printf("%s; %s; at n = 20: %lld\n", pairs.to_string().c_str(), padded.to_string().c_str(),
              static_cast<long long>(padded.substitute(n, 20).const_value()));
  std::printf("n <= padded: %s\n",
              tenon::prove_le(n, padded) == tenon::Proof::Yes ? "for every n" : "not proven");
}

void refused(const char* what, const auto& call) {
  try {
    call();
    std::printf("%s: no error\n", what);
  } catch (const tenon::Error& error) {
    std::printf("%s: %s\n", what, error.what());
  }
}

void plan(const tenon::Graph& graph) {
  tenon::CompilePipeline pipeline;
  const tenon::LirModule lir = pipeline.compile_mir(graph).lir;
  const tenon::BufferPlan& plan = lir.plan();
  std::printf("arena: %s bytes, dims:", plan.arena_size.to_string().c_str());
  for (const std::string& symbol : lir.dynamic_symbols()) std::printf(" %s", symbol.c_str());
  std::printf("\n");
  for (const tenon::BufferPlan::Step& step : plan.order)
    std::printf("  %s (%s) reads %s...\n", step.kind.c_str(), tenon::to_string(step.phase).data(),
                step.reads[0].c_str());
  const DimBinding extents = {{"batch", 2}, {"past", 6}, {"seq", 4}, {"other", 4}};
  const tenon::LirModule fixed = lir.specialize(extents);
  std::printf("at batch 2, past 6, seq 4: %s bytes, %s\n",
              fixed.plan().arena_size.to_string().c_str(),
              fixed.is_fully_static() ? "nothing is symbolic" : "something is symbolic");
  using tenon::PlanMode;
  for (const auto& [name, mode] : {std::pair{"arena", PlanMode::Arena},
                                   {"remap", PlanMode::Remap},
                                   {"disabled", PlanMode::Disabled}}) {
    pipeline.set_memory({.mode = mode, .alignment = 128});
    const tenon::BufferPlan each = pipeline.compile_mir(lir.graph()).lir.specialize(extents).plan();
    std::printf("%s: %s of %s bytes, %d buffers reused\n", name,
                each.arena_size.to_string().c_str(), each.total_unshared_bytes.to_string().c_str(),
                each.buffers_reused);
  }
  refused("past only", [&] { (void)lir.specialize({{"past", 6}}); });
}

}  // namespace

int main() {
  algebra();
  const tenon::Graph graph = model();
  tenon::CompiledGraph compiled = tenon::Session().compile(graph);
  for (const tenon::DimInfo& dim : compiled.dims())
    std::printf("%s: %lld to %lld\n", dim.name.c_str(), static_cast<long long>(dim.least),
                static_cast<long long>(dim.most));
  compiled.set_param("scale", std::vector<float>(kHidden, 1));
  const std::vector<float> data(600 * kHidden, 0.5F);
  const auto run = [&](int64_t past, int64_t seq, int64_t other) {
    return compiled.run({{"old", tenon::view(data, {1, past, kHidden})},
                         {"x", tenon::view(data, {1, seq, kHidden})},
                         {"gate", tenon::view(data, {1, other, kHidden})}});
  };
  std::printf("%zu and %zu tokens\n", run(6, 4, 4)[1].size(), run(100, 1, 1)[1].size());
  refused("other extents", [&] { run(6, 4, 3); });
  refused("out of bounds", [&] { run(6, 513, 513); });
  plan(graph);
  return 0;
}
