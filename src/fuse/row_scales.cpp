// See row_scales.h.
#include "fuse/row_scales.h"

#include <optional>
#include <unordered_map>

#include "fuse/match.h"

namespace tenon::fuse {
namespace {

using graph::Node;
using graph::Value;

struct Scaled {
  Value scale, reduction;
};

class RowScales {
 public:
  RowScales(const graph::Graph& graph, const graph::UseLists& uses,
            const std::unordered_set<const Node*>& constants, Regions& regions)
      : order_(graph.topological()), uses_(uses), constants_(constants), regions_(regions) {
    for (size_t i = 0; i < order_.size(); ++i) position_[order_[i]] = i;
  }

  void join() {
    for (const Node* node : order_) {
      const Value root{node, 0};
      const bool byte = is_integer(root.dtype()) && size_of(root.dtype()) == 1;
      const bool fits = byte && graph::has(node->op(), graph::kElementwise) &&
                        regions_.stored.contains(root) && !constants_.contains(node);
      if (!fits || regions_.assembled.contains(root)) continue;
      const std::optional<Scaled> found = find(root);
      if (!found) continue;
      regions_.row_scales[root] = found->scale;
      regions_.made_beside.insert(found->scale);
      regions_.stored.erase(found->reduction);
    }
  }

 private:
  // What a value is elementwise in: stored values but for constants.
  void leaves(Value value, std::vector<Value>& found) const {
    if (constants_.contains(value.node)) return;
    if (regions_.stored.contains(value) || !graph::has(value.op(), graph::kElementwise)) {
      found.push_back(value);
      return;
    }
    for (const Value& operand : value.node->operands()) leaves(operand, found);
  }

  std::vector<Value> leaves_inside(Value value) const {
    std::vector<Value> found;
    for (const Value& operand : value.node->operands()) leaves(operand, found);
    return found;
  }

  static bool is_scale_of(Value scale, Value root) {
    const Shape &rows = scale.shape(), &whole = root.shape();
    if (rows.rank() == 0 || rows.rank() != whole.rank() || !rows[rows.rank() - 1].is_const(1))
      return false;
    for (int axis = 0; axis + 1 < rows.rank(); ++axis) {
      if (rows[axis] != whole[axis]) return false;
    }
    return true;
  }

  std::optional<Scaled> find(Value root) const {
    const std::vector<Value> read = leaves_inside(root);
    if (read.size() != 2) return std::nullopt;
    const bool first = is_scale_of(read[0], root);
    const Value scale = read[first ? 0 : 1], x = read[first ? 1 : 0];
    if (!is_scale_of(scale, root) || !is_read_later(scale, root)) return std::nullopt;
    const std::vector<Value> made_of = leaves_inside(scale);
    if (made_of.size() != 1 || !graph::has(scale.op(), graph::kElementwise)) return std::nullopt;
    const Value reduction = made_of[0];
    const bool of_rows = graph::has(reduction.op(), graph::kReduction) &&
                         reduces_last_axis(*reduction.node) && uses_.only_user(reduction) &&
                         same_shape(reduction.node->operand(0).shape(), root.shape());
    if (!of_rows) return std::nullopt;
    const std::vector<Value> reduced = leaves_inside(reduction);
    if (reduced.size() != 1 || reduced[0] != x) return std::nullopt;
    return Scaled{scale, reduction};
  }

  // Whether whatever reads the scale, beside the root, comes after it.
  bool is_read_later(Value scale, Value root) const {
    if (uses_.is_output(scale) || regions_.made_beside.contains(scale)) return false;
    for (const auto& use : uses_.uses(scale)) {
      if (position_.at(use.user) < position_.at(root.node) && !is_inside(use.user, root))
        return false;
    }
    return true;
  }

  bool is_inside(const Node* node, Value root) const {
    const Node* user = node;
    while (user && user != root.node && !regions_.stored.contains({user, 0}))
      user = uses_.only_user({user, 0});
    return user == root.node;
  }

  std::vector<const Node*> order_;
  const graph::UseLists& uses_;
  const std::unordered_set<const Node*>& constants_;
  Regions& regions_;
  std::unordered_map<const Node*, size_t> position_;
};

}  // namespace

void join_row_scales(const graph::Graph& graph, const graph::UseLists& uses,
                     const std::unordered_set<const Node*>& constants, Regions& regions) {
  RowScales(graph, uses, constants, regions).join();
}

}  // namespace tenon::fuse
