// Blocks under calls that make no sense (chance.h): on live, moved-from and empty modules. A block
// that is refused leaves its module as it was.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/api/chance.h"

namespace tenon {
namespace {

constexpr int64_t kHidden = 8;

class BlockPlayer : public Chance {
 public:
  using Chance::Chance;

  void act() {
    using Player = BlockPlayer;
    static constexpr void (Player::* kActions[])() = {
        &Player::leaf,    &Player::block,   &Player::block,    &Player::block,   &Player::layer,
        &Player::outputs, &Player::outputs, &Player::move_hir, &Player::compile, &Player::run};
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

  void compile() { keep(compiled_, Session(options()).compile(any(hirs_), options())); }
  void run() {
    if (compiled_.empty()) return compile();
    CompiledGraph& graph = one_of(compiled_);
    for (const TensorInfo& param : graph.params()) graph.set_param(param.name, view());
    graph.run(inputs());
  }

  int weights_ = 0;
  std::vector<HirModule> hirs_;
  std::vector<HirValue> values_;
  std::vector<CompiledGraph> compiled_;
};

TEST(RandomCalls, OfBlocksAreDoneOrRefused) { expect_done_or_refused<BlockPlayer>(80); }

}  // namespace
}  // namespace tenon
