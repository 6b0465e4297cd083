// Blocks, modules of every stage and the stages of the compiler under calls that make no sense
// (chance.h): on live, moved-from and empty objects. A block that is refused leaves its module as
// it was.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/api/chance.h"

namespace tenon {
namespace {

constexpr int64_t kHidden = 8;

class ModulePlayer : public Chance {
 public:
  using Chance::Chance;

  void act() {
    using Player = ModulePlayer;
    static constexpr void (Player::* kActions[])() = {
        &Player::leaf,        &Player::block,       &Player::block,      &Player::block,
        &Player::layer,       &Player::outputs,     &Player::outputs,    &Player::move_hir,
        &Player::wrap,        &Player::move_module, &Player::unwrap,     &Player::compile,
        &Player::stages,      &Player::stages,      &Player::specialize, &Player::look,
        &Player::change_text, &Player::move_lir,    &Player::run};
    (this->*one_of(kActions))();
  }

 private:
  // A tensor of this shape most of the time, so that blocks are often good.
  HirValue weight(HirModule& m, const Shape& shape, DType dtype = DType::F32) {
    if (below(16) == 0) return below(2) ? HirValue() : value();
    return m.param("w" + std::to_string(weights_++), {shape, dtype});
  }
  HirValue maybe(HirModule& m, const Shape& shape) {
    return often() ? HirValue() : weight(m, shape);
  }
  HirValue value() { return below(16) == 0 ? HirValue() : any(values_); }
  HirModule& module() {
    HirModule& m = any(hirs_);
    if (values_.empty()) values_.push_back(m.input_batch_seq("x", kHidden));
    return m;
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

  void leaf() {
    HirModule& m = module();
    switch (below(4)) {
      case 0:
        values_.push_back(m.input_batch_seq(name(), often() ? Dim(kHidden) : dim(), dtype()));
        break;
      case 1:
        values_.push_back(m.input(name(), type()));
        break;
      case 2:
        values_.push_back(m.constant(std::vector<float>(below(9), 1.0f), {dim()}));
        break;
      default:
        m.set_origin(name());
        values_.push_back(m.op1(op_name(), {value(), value()}));
    }
  }

  void block() {
    HirModule& m = module();
    const std::string before = without_params(m);
    try {
      add_block(m);
    } catch (const Error&) {
      EXPECT_EQ(without_params(m), before);
      throw;
    }
  }
  static std::string without_params(const HirModule& m) {
    std::istringstream lines(m.print());
    std::string result;
    for (std::string line; std::getline(lines, line);)
      if (line.find(" = param(") == std::string::npos) result += line + '\n';
    return result;
  }
  void add_block(HirModule& m) {
    const HirValue x = value();
    const ActivationKind activation = one_up_to(ActivationKind::Sigmoid);
    const Shape square{kHidden, kHidden}, row{kHidden}, experts{3, kHidden, kHidden};
    switch (below(10)) {
      case 0:
        values_.push_back(
            m.linear(x, weight(m, square),
                     {.bias = maybe(m, row), .residual = x, .activation = activation}));
        break;
      case 1: {
        std::vector<hir::LinearWeights> linears(below(4));
        for (auto& linear : linears) linear = {weight(m, square), maybe(m, row)};
        for (const HirValue& y : m.shared_linears(x, linears, activation)) values_.push_back(y);
        break;
      }
      case 2:
        values_.push_back(
            m.dequantizing_linear(x, {.values = weight(m, square, often() ? DType::I8 : dtype()),
                                      .scales = weight(m, {below(2) ? 2 : extent(), kHidden}),
                                      .block = below(2) ? 4 : extent()}));
        break;
      case 3:
        values_.push_back(
            m.swiglu(x, {weight(m, square), weight(m, square), weight(m, square)},
                     {.residual = below(2) ? x : HirValue(), .activation = activation}));
        break;
      case 4:
        values_.push_back(m.moe(
            x,
            {weight(m, {kHidden, 3}), weight(m, experts), weight(m, experts), weight(m, experts)},
            {.top_k = extent(), .renormalize = often()}));
        break;
      case 5:
        values_.push_back(below(2) ? m.rms_norm(x, weight(m, row))
                                   : m.rms_norm_of_sum(x, value(), weight(m, row)).sum);
        break;
      case 6:
        values_.push_back(
            below(2) ? m.layer_norm(x, weight(m, row), weight(m, row))
                     : m.layer_norm_of_sum(x, value(), weight(m, row), weight(m, row)).normed);
        break;
      case 7:
        values_.push_back(m.attention(x, x, value(), attention(m)));
        break;
      case 8:
        values_.push_back(m.rotary(x, rotary(m)));
        break;
      default:
        for (const HirValue& y : m.op(op_name(), {x, value()}, {{"axis", extent()}}))
          values_.push_back(y);
    }
  }
  hir::AttentionOptions attention(HirModule& m) {
    return {.heads = often() ? 2 : extent(),
            .kv_heads = often() ? 0 : extent(),
            .head_dim = often() ? 0 : extent(),
            .scale = often() ? 0.0 : static_cast<double>(small()),
            .softcap = often() ? 0.0 : static_cast<double>(small()),
            .causal = often(),
            .window = often() ? 0 : extent(),
            .mask = maybe(m, {1, 1, 1, 1}),
            .bias = maybe(m, {1, 2, 1, 1})};
  }
  hir::RotaryOptions rotary(HirModule& m) {
    return {.heads = often() ? 2 : extent(),
            .dim = often() ? 0 : extent(),
            .interleaved = often(),
            .theta = often() ? 10000.0 : static_cast<double>(small()),
            .cos = maybe(m, {sym::seq(), 2}),
            .sin = maybe(m, {sym::seq(), 2})};
  }

  void layer() {
    HirModule& m = module();
    const Shape square{kHidden, kHidden}, row{kHidden};
    const auto linear = [&] { return hir::LinearWeights{weight(m, square), maybe(m, row)}; };
    if (below(2)) {
      values_.push_back(
          m.encoder_block(value(),
                          {linear(), linear(), linear(), linear(), weight(m, row), weight(m, row),
                           linear(), linear(), weight(m, row), weight(m, row)},
                          {.attention = attention(m), .pre_norm = often()}));
    } else {
      values_.push_back(m.decoder_block(value(),
                                        {weight(m, row),
                                         linear(),
                                         linear(),
                                         linear(),
                                         linear(),
                                         weight(m, row),
                                         {weight(m, square), weight(m, square), weight(m, square)}},
                                        {.attention = attention(m), .rotary = rotary(m)}));
    }
  }
  void outputs() {
    std::vector<HirModule::Output> list(often() ? 1 : below(3));
    for (auto& output : list) output = {name(), value()};
    module().set_outputs(list);
  }
  void move_hir() {
    HirModule& from = any(hirs_);
    HirModule other = seldom() ? std::move(from) : HirModule(from);
    if (seldom()) {
      hirs_.clear(), values_.clear();
    } else if (below(2)) {
      keep(hirs_, std::move(other));
    } else {
      any(hirs_) = std::move(other);
    }
  }

  void wrap() {
    switch (below(5)) {
      case 0:
        keep(modules_, GraphModule(name(), any(hirs_)));
        break;
      case 1:
        keep(modules_, GraphModule(name(), graph()));
        break;
      case 2:
        keep(modules_, GraphModule(name(), lir()));
        break;
      case 3:
        keep(modules_, GraphModule::define(name(), [&](HirModule&) { return value(); }));
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
        keep(compiled_, session.compile(any(hirs_), options()));
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
        keep(graphs_, pipeline.lower_hir(any(hirs_)));
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
        keep(lirs_, pipeline.compile_hir(any(hirs_)).lir);
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
  void run() {
    if (compiled_.empty()) return compile();
    CompiledGraph& graph = one_of(compiled_);
    for (const TensorInfo& param : graph.params()) graph.set_param(param.name, view());
    graph.run(inputs());
  }

  int weights_ = 0;
  std::vector<HirModule> hirs_;
  std::vector<HirValue> values_;
  std::vector<Graph> graphs_;
  std::vector<LirModule> lirs_;
  std::vector<GraphModule> modules_;
  std::vector<CompiledGraph> compiled_;
};

TEST(RandomCalls, OfModulesAreDoneOrRefused) { expect_done_or_refused<ModulePlayer>(80); }

}  // namespace
}  // namespace tenon
