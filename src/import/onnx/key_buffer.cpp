// The buffer is put together by indices into [past, added]: nothing is scattered.
#include "import/onnx/key_buffer.h"

#include "import/onnx/heads.h"

namespace tenon::onnx {

KeyBuffer key_buffer(Call& call, Value past, Value before, const Dim& fresh) {
  if (past.shape().rank() != 4) {
    throw user_error("a buffer of keys must have four axes, not {}", past.type().to_string());
  }
  if (!is_integer(before.dtype()) || prove_equal(before.shape().elements(), 1) == Proof::No) {
    throw user_error("past_sequence_length must be one integer, not {}", before.type().to_string());
  }
  return {past.shape()[2], fresh, to_i32(call, call.g.reshape(before, {1}))};
}

Value KeyBuffer::written(Call& call, Value past, Value added) const {
  graph::Graph& g = call.g;
  const auto number = [&](const Dim& dim) { return to_i32(call, g.dims({dim})); };
  Value zero = g.scalar(DType::I32, 0);
  Value place = positions(call, capacity);
  Value since = g.sub(place, before);
  Value is_new =
      both(call, g.binary(Op::LessEqual, zero, since), g.binary(Op::Less, since, number(fresh)));
  Value at = g.apply(Op::Where, {is_new, g.add(since, number(capacity)), place});
  // No index of the axis where the step does not fit.
  Value fits = both(call, g.binary(Op::LessEqual, zero, before),
                    g.binary(Op::LessEqual, before, number(capacity - fresh)));
  at = g.apply(Op::Where, {fits, at, number(capacity + fresh)});
  return g.gather(g.concat({past, added}, 2), at, 2);
}

Value KeyBuffer::used(Call& call) const {
  Value end = call.g.add(before, to_i32(call, call.g.dims({fresh})));
  return call.g.binary(Op::Less, positions(call, capacity), end);
}

Value KeyBuffer::cleared(Call& call, Value buffer) const {
  Value filled = call.g.reshape(used(call), {capacity, 1});
  return call.g.apply(Op::Where, {filled, buffer, call.g.scalar(buffer.dtype(), 0.0)});
}

}  // namespace tenon::onnx
