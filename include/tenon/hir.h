// HirModule: a model as blocks (linear, attention, norms, whole layers), for who writes models
// rather than graphs.
//
//   tenon::HirModule m;
//   tenon::HirValue x = m.input_batch_seq("x", 64);
//   tenon::HirValue gate = m.param("gate", {{64, 256}, tenon::DType::F32});
//   tenon::HirValue up = m.param("up", {{64, 256}, tenon::DType::F32});
//   tenon::HirValue down = m.param("down", {{256, 64}, tenon::DType::F32});
//   m.set_outputs({{"y", m.swiglu(x, {gate, up, down}, {.residual = x})}});
//   tenon::CompiledGraph compiled = tenon::Session().compile(m);
//
// Every call infers the types of its results and refuses operands that do not fit, by an Error that
// names the block, its operands and their shapes; the module is then as it was. docs/hir.md shows
// each block.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/graph.h"
#include "tenon/hir_options.h"

namespace tenon {

class HirModule {
 public:
  HirModule();
  HirModule(const HirModule& other);
  HirModule& operator=(const HirModule& other);
  HirModule(HirModule&&) noexcept;  // what was moved from can be assigned to, and no more
  HirModule& operator=(HirModule&&) noexcept;
  ~HirModule();

  // Leaves, as those of Graph.
  HirValue input(const std::string& name, const TensorType& type);
  HirValue state(const std::string& name, const TensorType& type, const StateOptions& options);
  // [batch, seq, hidden], of the predefined symbols.
  HirValue input_batch_seq(const std::string& name, const Dim& hidden, DType dtype = DType::F32);
  HirValue param(const std::string& name, const TensorType& type);
  HirValue param(const std::string& name, const TensorType& type, std::span<const std::byte> data);
  HirValue constant(const TensorType& type, std::span<const std::byte> data);  // at most 4096 bytes
  template <typename T>
  HirValue constant(const std::vector<T>& values, const Shape& shape) {
    return constant({shape, dtype_of<T>()}, std::as_bytes(std::span(values)));
  }

  // Any op of docs/ops.md by the name it has there.
  std::vector<HirValue> op(std::string_view name, const std::vector<HirValue>& operands,
                           const Attributes& attributes = {});
  HirValue op1(std::string_view name, const std::vector<HirValue>& operands,
               const Attributes& attributes = {});  // of one result

  // x [..., k], w [k, n] -> [..., n]
  HirValue linear(const HirValue& x, const HirValue& w, const hir::LinearOptions& options = {});
  // Linears of one input, computed as one; all have a bias, or none has.
  std::vector<HirValue> shared_linears(const HirValue& x,
                                       const std::vector<hir::LinearWeights>& linears,
                                       ActivationKind activation = ActivationKind::None);
  HirValue dequantizing_linear(const HirValue& x, const hir::QuantizedWeight& w,
                               const hir::LinearOptions& options = {});
  HirValue swiglu(const HirValue& x, const hir::SwiGluWeights& weights,
                  const hir::SwiGluOptions& options = {});
  HirValue moe(const HirValue& x, const hir::MoeWeights& weights,
               const hir::MoeOptions& options = {});

  HirValue update(const HirValue& state, const HirValue& value, const Dim& offset);  // as Graph's

  // Norms of the last axis; scale and bias have its extent.
  HirValue rms_norm(const HirValue& x, const HirValue& scale, double epsilon = 1e-5);
  HirValue layer_norm(const HirValue& x, const HirValue& scale, const HirValue& bias,
                      double epsilon = 1e-5);
  // The norm of x + residual, and the sum itself, which the next block adds to.
  struct Normed {
    HirValue normed, sum;
  };
  Normed rms_norm_of_sum(const HirValue& x, const HirValue& residual, const HirValue& scale,
                         double epsilon = 1e-5);
  Normed layer_norm_of_sum(const HirValue& x, const HirValue& residual, const HirValue& scale,
                           const HirValue& bias, double epsilon = 1e-5);

  // q [batch, queries, heads*head_dim], k and v [batch, keys, kv_heads*head_dim] -> like q. A query
  // that sees no key gives 0.
  HirValue attention(const HirValue& q, const HirValue& k, const HirValue& v,
                     const hir::AttentionOptions& options);
  // x [batch, seq, heads*head_dim] -> like x
  HirValue rotary(const HirValue& x, const hir::RotaryOptions& options);

  // Whole layers: x [batch, seq, hidden] -> like x. The encoder's is that of BERT; the decoder's:
  // RMSNorm, q k v, rotary, attention, projection, + x; RMSNorm, SwiGLU, + that.
  HirValue encoder_block(const HirValue& x, const hir::EncoderWeights& weights,
                         const hir::EncoderOptions& options);
  HirValue decoder_block(const HirValue& x, const hir::DecoderWeights& weights,
                         const hir::DecoderOptions& options);

  // What blocks from here on come from (a layer's name); kernels and errors tell it.
  void set_origin(const std::string& origin);

  struct Output {
    std::string name;
    HirValue value;
  };
  // Their order is that of every list of outputs from here on. None is an Error, so is a name
  // twice.
  void set_outputs(const std::vector<Output>& outputs);

  std::string print() const;

 private:
  friend Graph lower_hir(const HirModule& module, FusionPolicy policy);
  hir::Module& state() const;  // an Error where it was moved from
  std::unique_ptr<hir::Module> state_;
};

// The module as a graph: its inputs, parameters and outputs by the same names. No outputs are an
// Error.
Graph lower_hir(const HirModule& module, FusionPolicy policy = FusionPolicy::Direct);

}  // namespace tenon
