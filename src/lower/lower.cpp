// Picks the lowering for a region by the op of its root; everything without one of its own is
// elementwise.
#include "lower/lower.h"

#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;
using graph::Value;

namespace {

Lowered lower_elementwise(Region& region) {
  const Value root = region.root();
  Block body = region.result_loops([&](const Index& index) -> Block {
    Stmt s = region.store_result(index, region.at(root, index));
    return append(region.take_lets(), {s});
  });
  return region.finish(std::string(graph::info(root.op()).text), std::move(body));
}

}  // namespace

Lowered lower(Value result, const fuse::Regions& regions, const Layout& layout,
              const TakenNames& taken) {
  Region region(result, regions, layout, taken);
  const Value root = region.root();
  const auto stored = [&](int operand) {
    return regions.stored.contains(root.node->operand(operand));
  };
  if (auto conv = lower_conv(region, regions)) return std::move(*conv);
  if (auto product = lower_product(region, regions)) return std::move(*product);
  if (const auto scale = regions.row_scales.find(root); scale != regions.row_scales.end())
    return lower_with_row_scale(region, scale->second);
  switch (root.op()) {
    case graph::Op::Linear:
    case graph::Op::GatedLinear:
    case graph::Op::MatMul:
      return lower_contraction(region);
    case graph::Op::Attention:
      return lower_attention(region, root.node->operand(0).op() == graph::Op::Rotary && !stored(0));
    case graph::Op::LayerNorm:
      return lower_layer_norm(region, stored(0));
    case graph::Op::RmsNorm:
      return lower_rms_norm(region, stored(0));
    case graph::Op::Softmax:
      return lower_softmax(region, stored(0));
    case graph::Op::Rotary:
      return lower_rotary(region);
    case graph::Op::MaxPool:
    case graph::Op::AveragePool:
    case graph::Op::LpPool:
      return lower_pool(region);
    case graph::Op::ArgMax:
    case graph::Op::ArgMin:
      return lower_arg_reduction(region);
    case graph::Op::CumSum:
    case graph::Op::CumProd:
      return lower_scan(region);
    case graph::Op::ScatterElements:
      return lower_scatter_elements(region);
    case graph::Op::ScatterND:
      return lower_scatter_nd(region);
    case graph::Op::TopK:
      return root.result == 1 ? lower_top_k(region) : lower_elementwise(region);
    case graph::Op::Unique:
      return lower_unique(region);
    case graph::Op::Update:
      return root.node->operand(1).op() == graph::Op::Rotary && !stored(1) ? lower_rotary(region)
                                                                           : lower_update(region);
    default:
      return graph::has(root.op(), graph::kReduction) ? lower_reduction(region)
                                                      : lower_elementwise(region);
  }
}

}  // namespace tenon::lower
