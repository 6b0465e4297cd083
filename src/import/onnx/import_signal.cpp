// Importers of signal ops. Lengths, steps and sizes may be known or data of the run.
#include "import/onnx/compute.h"
#include "import/onnx/ops/sequence.h"
#include "import/onnx/window_attributes.h"

namespace tenon::onnx::importers {
namespace {

Value scalar(Call& call, const Dim& value) { return call.g.dims({value}, true); }

// Of a value that may be data: itself, or a new symbol for the extent that it gives.
Dim extent_of(Call& call, Value value, const std::string& stem) {
  const auto known = known_scalar(value);
  return known ? *known : fresh_extent(call, stem);
}

DType output_dtype(Call& call) {
  return dtype_of(call.integer("output_datatype", 1), "attribute 'output_datatype'");
}

// The transform of one axis: `length` is 0 where it is the axis's own.
Value transform(Call& call, Value x, Value length, Value axis, std::vector<Dim> shape, bool inverse,
                bool onesided) {
  return call.g.apply(Op::Dft, {x, length, axis},
                      {{"shape", std::move(shape)},
                       {"inverse", int64_t{inverse ? 1 : 0}},
                       {"onesided", int64_t{onesided ? 1 : 0}}});
}

// What the axis has afterwards.
Dim transformed(const Dim& length, bool inverse, bool onesided) {
  return onesided && !inverse ? floordiv(length, 2) + 1 : length;
}

std::vector<Dim> dft_shape(Call& call, Value x, Value length, Value axis, bool inverse,
                           bool onesided) {
  std::vector<Dim> shape = x.shape().dims();
  const auto known = known_scalar(axis);
  if (known && known->is_const()) {
    const int64_t at = Call::axis_of(known->const_value(), x.shape().rank());
    Dim& extent = shape[static_cast<size_t>(at)];
    Dim whole = inverse && onesided ? (extent - 1) * 2 : extent;
    if (length) whole = extent_of(call, length, "dft");
    // A length that is data gives the extent itself, whatever the sides.
    const bool data = length && !known_scalar(length);
    extent = data ? whole : transformed(whole, inverse, onesided);
  } else if (length || onesided) {
    shape = fresh_extents(call, "dft", shape.size());
  }
  shape.back() = inverse && onesided ? 1 : 2;
  return shape;
}

Value cosine_window(Call& call, std::vector<double> coefficients) {
  Value size = call.in(0);
  return call.g.apply(Op::CosineWindow, {size},
                      {{"shape", std::vector<Dim>{extent_of(call, size, "window")}},
                       {"dtype", output_dtype(call)},
                       {"coefficients", std::move(coefficients)},
                       {"periodic", int64_t{call.flag("periodic", true) ? 1 : 0}}});
}

}  // namespace

// The axis is an attribute until opset 19.
Results dft(Call& call) {
  Value x = call.in(0), length = call.maybe(1), axis = call.maybe(2);
  if (x.shape().rank() < 2) throw user_error("{} is no signal", x.type().to_string());
  const bool inverse = call.flag("inverse", false), onesided = call.flag("onesided", false);
  if (call.opset() < 20) axis = scalar(call, call.integer("axis", 1));
  if (!axis) axis = scalar(call, -2);
  std::vector<Dim> shape = dft_shape(call, x, length, axis, inverse, onesided);
  if (!length) length = scalar(call, 0);
  return {transform(call, x, length, axis, std::move(shape), inverse, onesided)};
}

Results stft(Call& call) {
  Value x = call.in(0), step = call.in(1), window = call.maybe(2), length = call.maybe(3);
  if (x.shape().rank() != 3) throw user_error("{} is no signal", x.type().to_string());
  const bool onesided = call.flag("onesided", true);
  const Dim time = x.shape()[1];
  const Dim whole = window ? window.shape()[0] : length ? extent_of(call, length, "frame") : time;
  if (window || !length) length = scalar(call, whole);
  const auto hop = known_scalar(step);
  const bool known = hop && hop->is_const() && hop->const_value() > 0;
  const Dim count =
      known ? floordiv(time - whole, hop->const_value()) + 1 : fresh_extent(call, "frames");
  Value frames =
      call.g.apply(Op::Frames, {x, step, length},
                   {{"shape", std::vector<Dim>{x.shape()[0], count, whole, x.shape()[2]}}});
  if (window) {
    Value factors = as(call, call.g.reshape(window, {whole, 1}), x.dtype());
    frames = call.g.mul(frames, factors);
  }
  return {transform(call, frames, scalar(call, 0), scalar(call, 2),
                    {x.shape()[0], count, transformed(whole, false, onesided), 2}, false,
                    onesided)};
}

Results hann_window(Call& call) { return {cosine_window(call, {0.5, 0.5})}; }
Results hamming_window(Call& call) { return {cosine_window(call, {25.0 / 46.0, 21.0 / 46.0})}; }
Results blackman_window(Call& call) { return {cosine_window(call, {0.42, 0.5, 0.08})}; }

Results mel_weight_matrix(Call& call) {
  std::vector<Value> operands;
  for (int i = 0; i < 5; ++i) operands.push_back(call.in(i));
  const auto length = known_scalar(operands[1]);
  std::vector<Dim> shape{length ? floordiv(*length, 2) + 1 : fresh_extent(call, "spectrum"),
                         extent_of(call, operands[0], "mel")};
  return {call.g.apply(Op::MelWeights, std::move(operands),
                       {{"shape", std::move(shape)}, {"dtype", output_dtype(call)}})};
}

}  // namespace tenon::onnx::importers
