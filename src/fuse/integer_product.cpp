// See integer_product.h.
#include "fuse/integer_product.h"

#include "graph/convolution.h"

namespace tenon::fuse {

using graph::Op;

namespace {

bool is_cast_from(graph::Value value, DType from) {
  return value.op() == Op::Cast && value.node->operand(0).dtype() == from;
}

}  // namespace

bool is_integer_product(const graph::Node& node) {
  const bool multiplies =
      node.op() == Op::MatMul ||
      (node.op() == Op::Conv && node.operand_count() == 2 && graph::is_matrix_product(node));
  return multiplies && node.types()[0].dtype == DType::I32 &&
         is_cast_from(node.operand(0), DType::U8) && is_cast_from(node.operand(1), DType::I8);
}

graph::Value image_of(const graph::Node& conv) {
  const graph::Value image = conv.operand(0);
  return is_integer_product(conv) ? image.node->operand(0) : image;
}

}  // namespace tenon::fuse
