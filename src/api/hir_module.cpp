// The public HirModule: each call is a block of hir::Module.
#include "api/graph_state.h"
#include "base/error.h"
#include "hir/module.h"
#include "tenon/hir.h"

namespace tenon {
namespace {

graph::Data copy_of(std::span<const std::byte> data) {
  auto bytes = std::make_shared<const std::vector<std::byte>>(data.begin(), data.end());
  return {*bytes, bytes};
}

}  // namespace

HirModule::HirModule() : state_(std::make_unique<hir::Module>()) {}
HirModule::HirModule(const HirModule& other)
    : state_(std::make_unique<hir::Module>(other.state())) {}
HirModule& HirModule::operator=(const HirModule& other) { return *this = HirModule(other); }
HirModule::HirModule(HirModule&&) noexcept = default;
HirModule& HirModule::operator=(HirModule&&) noexcept = default;
HirModule::~HirModule() = default;

hir::Module& HirModule::state() const {
  if (!state_) throw user_error("this HirModule was moved from: there is nothing in it");
  return *state_;
}

HirValue HirModule::input(const std::string& name, const TensorType& type) {
  return state().add(hir::Input{name, type})[0];
}

HirValue HirModule::state(const std::string& name, const TensorType& type,
                          const StateOptions& options) {
  return state().add(hir::State{name, type, options})[0];
}

HirValue HirModule::update(const HirValue& state, const HirValue& value, const Dim& offset) {
  return op1("update", {state, value}, {{"offset", std::vector<Dim>{offset}}});
}

HirValue HirModule::input_batch_seq(const std::string& name, const Dim& hidden, DType dtype) {
  return input(name, {Shape::batch_seq(sym::batch(), sym::seq(), hidden), dtype});
}

HirValue HirModule::param(const std::string& name, const TensorType& type) {
  return state().add(hir::Param{name, type, {}})[0];
}

HirValue HirModule::param(const std::string& name, const TensorType& type,
                          std::span<const std::byte> data) {
  return state().add(hir::Param{name, type, copy_of(data)})[0];
}

HirValue HirModule::constant(const TensorType& type, std::span<const std::byte> data) {
  return state().add(hir::Constant{type, copy_of(data)})[0];
}

std::vector<HirValue> HirModule::op(std::string_view name, const std::vector<HirValue>& operands,
                                    const Attributes& attributes) {
  const auto op = graph::parse_op(name);
  if (!op) throw user_error("there is no op \"{}\"; docs/ops.md lists them", name);
  return state().add(hir::TensorOp{*op, operands, GraphState::attributes_of(attributes)});
}

HirValue HirModule::op1(std::string_view name, const std::vector<HirValue>& operands,
                        const Attributes& attributes) {
  const std::vector<HirValue> results = op(name, operands, attributes);
  if (results.size() != 1)
    throw user_error("[{}] it has {} results: use op()", name, results.size());
  return results[0];
}

HirValue HirModule::linear(const HirValue& x, const HirValue& w,
                           const hir::LinearOptions& options) {
  return state().add(hir::Linear{x, w, options})[0];
}

std::vector<HirValue> HirModule::shared_linears(const HirValue& x,
                                                const std::vector<hir::LinearWeights>& linears,
                                                ActivationKind activation) {
  return state().add(hir::SharedLinears{x, linears, activation});
}

HirValue HirModule::dequantizing_linear(const HirValue& x, const hir::QuantizedWeight& w,
                                        const hir::LinearOptions& options) {
  return state().add(hir::DequantizingLinear{x, w, options})[0];
}

HirValue HirModule::swiglu(const HirValue& x, const hir::SwiGluWeights& weights,
                           const hir::SwiGluOptions& options) {
  return state().add(hir::SwiGlu{x, weights, options})[0];
}

HirValue HirModule::moe(const HirValue& x, const hir::MoeWeights& weights,
                        const hir::MoeOptions& options) {
  return state().add(hir::Moe{x, weights, options})[0];
}

HirValue HirModule::rms_norm(const HirValue& x, const HirValue& scale, double epsilon) {
  return state().add(hir::RmsNorm{x, {}, scale, epsilon})[0];
}

HirValue HirModule::layer_norm(const HirValue& x, const HirValue& scale, const HirValue& bias,
                               double epsilon) {
  return state().add(hir::LayerNorm{x, {}, scale, bias, epsilon})[0];
}

HirModule::Normed HirModule::rms_norm_of_sum(const HirValue& x, const HirValue& residual,
                                             const HirValue& scale, double epsilon) {
  if (!residual) throw user_error("[rms_norm] residual is left out, but needed");
  const auto results = state().add(hir::RmsNorm{x, residual, scale, epsilon});
  return {results[0], results[1]};
}

HirModule::Normed HirModule::layer_norm_of_sum(const HirValue& x, const HirValue& residual,
                                               const HirValue& scale, const HirValue& bias,
                                               double epsilon) {
  if (!residual) throw user_error("[layer_norm] residual is left out, but needed");
  const auto results = state().add(hir::LayerNorm{x, residual, scale, bias, epsilon});
  return {results[0], results[1]};
}

HirValue HirModule::attention(const HirValue& q, const HirValue& k, const HirValue& v,
                              const hir::AttentionOptions& options) {
  return state().add(hir::Attention{q, k, v, options})[0];
}

HirValue HirModule::rotary(const HirValue& x, const hir::RotaryOptions& options) {
  return state().add(hir::Rotary{x, options})[0];
}

HirValue HirModule::encoder_block(const HirValue& x, const hir::EncoderWeights& weights,
                                  const hir::EncoderOptions& options) {
  return state().add(hir::EncoderBlock{x, weights, options})[0];
}

HirValue HirModule::decoder_block(const HirValue& x, const hir::DecoderWeights& weights,
                                  const hir::DecoderOptions& options) {
  return state().add(hir::DecoderBlock{x, weights, options})[0];
}

void HirModule::set_origin(const std::string& origin) { state().set_origin(origin); }

void HirModule::set_outputs(const std::vector<Output>& outputs) {
  std::vector<hir::NamedValue> inner;
  for (const Output& output : outputs) inner.push_back({output.name, output.value});
  state().set_outputs(std::move(inner));
}

std::string HirModule::print() const { return hir::print(state()); }

Graph lower_hir(const HirModule& module, FusionPolicy policy) {
  return GraphState::wrap(hir::lower(module.state(), policy));
}

}  // namespace tenon
