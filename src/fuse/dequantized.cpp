// See dequantized.h.
#include "fuse/dequantized.h"

namespace tenon::fuse {

using graph::Op;

bool is_dequantized(graph::Value w) {
  for (bool scaled = false;;) {
    switch (w.op()) {
      case Op::Mul:
        scaled = true;
        break;
      case Op::Cast:
      case Op::Sub:
      case Op::Reshape:
      case Op::Transpose:
        break;
      default:
        return scaled && is_integer(w.dtype()) && size_of(w.dtype()) == 1;
    }
    w = w.node->operand(0);
  }
}

}  // namespace tenon::fuse
