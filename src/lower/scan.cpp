// Running sums and products along an axis: lines are independent, a line goes element by element
// with what it has so far in a local.
#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;
using graph::Node;
using graph::Value;

Lowered lower_scan(Region& region) {
  const Value root = region.root();
  const Node& node = *root.node;
  const Value x = node.operand(0);
  const auto axis = static_cast<int>(node.attributes().integer("axis"));
  const bool exclusive = node.attributes().integer("exclusive", 0) != 0;
  const bool reverse = node.attributes().integer("reverse", 0) != 0;
  const Op join = node.op() == graph::Op::CumSum ? Op::Add : Op::Mul;
  const DType dtype = computed_in(root.dtype());
  const Dim n = root.shape()[axis];
  Block body = region.loops(without(root.shape().dims(), axis), [&](const Index& line) -> Block {
    const int sum = region.local_scalar("sum", dtype);
    const ExprRef so_far = load(sum, dtype, 0);
    Block steps = region.loops(
        {n},
        [&](const Index& step) -> Block {
          const Index index = inserted(line, axis, reverse ? n - 1 - step[0] : step[0]);
          const Stmt add = store(sum, 0, pointwise(join, {so_far, region.at(x, index)}));
          const Stmt result = region.store_result(index, so_far);
          return exclusive ? Block{result, add} : Block{add, result};
        },
        LoopKind::Serial);
    return append({store(sum, 0, identity(join, dtype))}, std::move(steps));
  });
  return region.finish(std::string(graph::info(node.op()).text), std::move(body));
}

}  // namespace tenon::lower
