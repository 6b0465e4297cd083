// See convolution.h.
#include "graph/convolution.h"

#include <algorithm>

namespace tenon::graph {

namespace {

constexpr int64_t kManyChannels = 16;  // a vector

}  // namespace

bool is_conv(Op op) { return op == Op::Conv || op == Op::ConvTranspose; }
bool is_pool(Op op) { return op == Op::MaxPool || op == Op::AveragePool || op == Op::LpPool; }

std::span<const Dim> spatial(const Shape& shape) { return std::span(shape.dims()).subspan(2); }

bool all_const(std::span<const Dim> dims) {
  return std::ranges::all_of(dims, [](const Dim& dim) { return dim.is_const(); });
}

bool is_many(const Dim& channels) {
  return channels.is_const() && channels.const_value() >= kManyChannels;
}

bool is_matrix_product(const Node& conv) {
  if (conv.op() != Op::Conv || conv.attributes().integer("groups") != 1) return false;
  const Shape &x = conv.operand(0).shape(), &w = conv.operand(1).shape();
  return all_const(w.dims()) && is_many(w[0]) && is_many(w[1]) && all_const(spatial(x)) &&
         all_const(spatial(conv.types()[0].shape));
}

}  // namespace tenon::graph
