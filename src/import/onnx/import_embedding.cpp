// Importers of ONNX Runtime's embeddings with a layer norm (domain com.microsoft), of floats and
// quantized.
#include "import/onnx/compute.h"
#include "import/onnx/importers.h"
#include "import/onnx/ops/microsoft.h"
#include "import/onnx/quantized.h"

namespace tenon::onnx::importers {
namespace {

struct Embedding {
  Value ids, segments, words, positions, segment_table, scale, shift, mask, position_ids;
};

// The number of ones in each row of the mask; without a mask, zeros.
Value mask_index(Call& call, Value mask, const Dim& batch) {
  graph::Graph& g = call.g;
  if (!mask) return g.expand(g.scalar(DType::I32, 0), {batch});
  if (mask.shape().rank() != 2) throw user_error("the mask must have two axes");
  Value ones = g.binary(Op::Equal, mask, g.scalar(mask.dtype(), 1));
  return g.reshape(g.reduce(Op::ReduceSum, g.cast(ones, DType::I32), {1}), {batch});
}

Results embed(Call& call, const Embedding& e) {
  graph::Graph& g = call.g;
  if (e.ids.shape().rank() != 2 || e.words.shape().rank() != 2 || e.positions.shape().rank() != 2) {
    throw user_error("ids and embeddings must have two axes, not {}, {} and {}",
                     e.ids.type().to_string(), e.words.type().to_string(),
                     e.positions.type().to_string());
  }
  Value sum = g.gather(e.words, e.ids, 0);
  if (e.segments) {
    if (!e.segment_table) throw user_error("segments without a table");
    sum = g.add(sum, g.gather(e.segment_table, e.segments, 0));
  }
  sum = g.add(sum, e.position_ids ? g.gather(e.positions, e.position_ids, 0)
                                  : first_rows(g, e.positions, e.ids.shape()[1]));
  Value count = e.mask || call.wants(1) ? mask_index(call, e.mask, e.ids.shape()[0]) : Value{};
  const double epsilon = call.number("epsilon", 1e-12f);
  return {g.layer_norm(sum, e.scale, e.shift, epsilon), count, sum};
}

}  // namespace

Results embed_layer_normalization(Call& call) {
  call.integer("mask_index_type", 0);  // about the declared type only
  return embed(call, {.ids = call.in(0),
                      .segments = call.maybe(1),
                      .words = call.in(2),
                      .positions = call.in(3),
                      .segment_table = call.maybe(4),
                      .scale = call.in(5),
                      .shift = call.in(6),
                      .mask = call.maybe(7),
                      .position_ids = call.maybe(8)});
}

// Tables and parameters of the norm are quantized, each with one scale and one zero point.
Results quantized_embed_layer_normalization(Call& call) {
  const auto real = [&](int stored, int scale, int zero) {
    if (!call.maybe(stored)) return Value{};
    const auto one = [&](int i) { return call.g.reshape(call.in(i), {}); };
    return dequantized(call, call.in(stored), one(scale), one(zero));
  };
  return embed(call, {.ids = call.in(0),
                      .segments = call.maybe(1),
                      .words = real(2, 8, 13),
                      .positions = real(3, 9, 14),
                      .segment_table = real(4, 10, 15),
                      .scale = real(5, 11, 16),
                      .shift = real(6, 12, 17),
                      .mask = call.maybe(7),
                      .position_ids = {}});
}

}  // namespace tenon::onnx::importers
