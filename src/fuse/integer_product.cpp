// See integer_product.h.
#include "fuse/integer_product.h"

namespace tenon::fuse {

using graph::Op;

namespace {

bool is_widened(graph::Value value, DType from) {
  return value.op() == Op::Cast && value.node->operand(0).dtype() == from;
}

}  // namespace

bool is_integer_product(const graph::Node& node) {
  return node.op() == Op::MatMul && node.types()[0].dtype == DType::I32 &&
         is_widened(node.operand(0), DType::U8) && is_widened(node.operand(1), DType::I8);
}

}  // namespace tenon::fuse
