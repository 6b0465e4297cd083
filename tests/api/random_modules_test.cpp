// Modules of every stage and the stages of the compiler under calls that make no sense (chance.h):
// on live, moved-from and empty objects.
#include <gtest/gtest.h>

#include "tests/api/chance.h"

namespace tenon {
namespace {

class ModulePlayer : public Chance {
 public:
  using Chance::Chance;

  void act() {
    using Player = ModulePlayer;
    static constexpr void (Player::* kActions[])() = {
        &Player::wrap,     &Player::move_module, &Player::unwrap,     &Player::compile,
        &Player::stages,   &Player::stages,      &Player::specialize, &Player::look,
        &Player::move_lir, &Player::change_text};
    (this->*one_of(kActions))();
  }

 private:
  HirModule& hir() {
    if (hirs_.empty() || seldom()) {
      HirModule m;
      const HirValue x = m.input_batch_seq("x", 8);
      const HirValue w = m.param("w", {{8, 8}, DType::F32});
      m.set_outputs({{"y", m.swiglu(m.attention(x, x, x, {.heads = 2}), {w, w, w})}});
      keep(hirs_, seldom() ? HirModule() : std::move(m));
    }
    return one_of(hirs_);
  }
  Graph& graph() {
    if (graphs_.empty()) {
      Graph& g = graphs_.emplace_back();
      const Value x = g.input("x", {{sym::batch(), 4}, DType::F32});
      g.set_outputs({{"y", g.softmax(g.matmul(x, g.param("w", {{4, 4}, DType::F32})))}});
    }
    return one_of(graphs_);
  }
  LirModule& lir() {
    if (lirs_.empty() || seldom())
      keep(lirs_, seldom() ? LirModule() : CompilePipeline().compile_mir(graph()).lir);
    return one_of(lirs_);
  }

  void wrap() {
    switch (below(5)) {
      case 0:
        keep(modules_, GraphModule(name(), hir()));
        break;
      case 1:
        keep(modules_, GraphModule(name(), graph()));
        break;
      case 2:
        keep(modules_, GraphModule(name(), lir()));
        break;
      case 3:
        keep(modules_, GraphModule::define(name(), [&](HirModule& m) {
               return m.op1(op_name(), {m.input(name(), type())});
             }));
        break;
      default:
        keep(modules_, GraphModule::define(
                           name(), [&](Graph& g) { return g.relu(g.input(name(), type())); }));
    }
  }
  GraphModule& wrapped() {
    if (modules_.empty()) wrap();
    return one_of(modules_);
  }
  void move_module() {
    GraphModule& from = wrapped();
    GraphModule other = seldom() ? std::move(from) : GraphModule(from);
    keep(modules_, std::move(other));
  }
  void unwrap() {
    GraphModule& from = wrapped();
    from.name(), to_string(from.stage());
    switch (below(3)) {
      case 0:
        keep(hirs_, below(2) ? from.hir() : std::move(from).into_hir());
        break;
      case 1:
        keep(graphs_, below(2) ? from.mir() : std::move(from).into_mir());
        break;
      default:
        keep(lirs_, below(2) ? from.lir() : std::move(from).into_lir());
    }
  }

  void compile() {
    const Session session = Session(options()).with_policy(one_up_to(PrecisionPolicy::DynamicInt8));
    switch (below(4)) {
      case 0:
        keep(compiled_, session.compile(hir(), options()));
        break;
      case 1:
        keep(compiled_, session.compile(lir(), options()));
        break;
      case 2:
        keep(compiled_, Session().compile(lir()));
        break;
      default:
        keep(compiled_, session.compile(wrapped(), options()));
    }
  }
  void stages() {
    CompilePipeline pipeline = often() ? CompilePipeline() : CompilePipeline(options());
    if (seldom()) pipeline.set_fusion(fusion()).set_dispatch(dispatch());
    if (seldom()) pipeline.set_memory(memory_options()).set_supported_ops({op_name()});
    switch (below(8)) {
      case 0:
        keep(graphs_, pipeline.lower_hir(hir()));
        break;
      case 1:
        keep(graphs_, pipeline.preprocess(graph()));
        break;
      case 2:
        keep(graphs_, pipeline.optimize_with_report(graph()).graph);
        break;
      case 3:
        keep(lirs_, pipeline.plan_lir(graph()));
        break;
      case 4:
        keep(lirs_, pipeline.plan_lir_with_options(graph(), memory_options()));
        break;
      case 5:
        keep(lirs_, pipeline.compile_hir(hir()).lir);
        break;
      case 6:
        keep(lirs_, pipeline.compile_module(wrapped()).lir);
        break;
      default:
        pipeline.inspect(graph());
    }
  }
  void specialize() { keep(lirs_, lir().specialize(binding())); }
  void look() {
    const LirModule& module = lir();
    module.nodes(), module.phase(below(20)), module.fingerprint(), module.device();
    keep(graphs_, module.graph());
  }
  void change_text() {
    std::string text = lir().print();
    if (!text.empty() && below(2)) text[below(text.size())] = static_cast<char>(below(256));
    keep(lirs_, LirModule::parse(text, often() ? CompileOptions() : options()));
  }
  void move_lir() {
    LirModule& from = lir();
    const LirModule other = seldom() ? std::move(from) : LirModule(from);
    lir() = other;
  }
  std::vector<HirModule> hirs_;
  std::vector<Graph> graphs_;
  std::vector<LirModule> lirs_;
  std::vector<GraphModule> modules_;
  std::vector<CompiledGraph> compiled_;
};

TEST(RandomCalls, OfModulesAreDoneOrRefused) { expect_done_or_refused<ModulePlayer>(60); }

}  // namespace
}  // namespace tenon
