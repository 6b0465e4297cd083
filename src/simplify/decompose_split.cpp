// split(x) -> one slice per part. Parts that nobody uses disappear with the rest of the dead code.
#include "simplify/simplify.h"

namespace tenon::simplify {

using graph::Node;
using graph::Value;

graph::Graph decompose_split(const graph::Graph& source) {
  return graph::rebuild(source,
                        [](graph::Graph& g, const Node& node, std::span<const Value> operands) {
                          std::vector<Value> parts;
                          if (node.op() != graph::Op::Split || node.operand_count() > 1)
                            return parts;
                          const Shape& whole = operands[0].shape();
                          const auto axis = static_cast<size_t>(node.attributes().integer("axis"));
                          const std::vector<int64_t> steps(whole.dims().size(), 1);
                          std::vector<Dim> starts(whole.dims().size(), 0);
                          for (const Dim& extent : node.attributes().dims("extents")) {
                            std::vector<Dim> extents = whole.dims();
                            extents[axis] = extent;
                            parts.push_back(g.slice(operands[0], starts, extents, steps));
                            starts[axis] = starts[axis] + extent;
                          }
                          return parts;
                        });
}

}  // namespace tenon::simplify
