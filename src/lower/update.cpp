// An update stores the new rows where they belong in the memory of its state, and touches nothing
// else of it.
#include "graph/state.h"
#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;
using graph::Value;

Lowered lower_update(Region& region) {
  const Value root = region.root(), value = root.node->operand(1);
  const auto axis = static_cast<size_t>(graph::state_layout(*graph::state_of(root))->axis);
  const Dim& offset = root.node->attributes().dims("offset")[0];
  Block body = region.loops(value.shape().dims(), [&](const Index& index) -> Block {
    Index to = index;
    to[axis] = to[axis] + offset;
    Stmt s = region.store_result(to, region.at(value, index));
    return append(region.take_lets(), {s});
  });
  return region.finish("update", std::move(body));
}

}  // namespace tenon::lower
