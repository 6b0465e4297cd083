// One attempt at deriving a graph's shapes with the bucket's extent as a symbol; see
// active_extent.h.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace tenon::graph {

// An extent that a node brings into the graph: an axis of an input, of what expand repeats, of what
// slice or range makes.
struct Place {
  const Node* node = nullptr;
  int axis = 0;
  auto operator<=>(const Place&) const = default;
};

struct Attempt {
  std::optional<Graph> graph;   // where everything fits
  std::optional<Place> needed;  // it fits if this is the bucket's, and it can be
  std::string why_not;          // else
  bool unknown = false;  // of these: not that shapes do not fit, but that they cannot be told
  bool clashes = false;  // or: an input would have the bucket's extent on an axis that is not its
  std::set<Place> open;  // of the bucket's size, taken for constants, and nothing said so
};

// The shape of reshape's result for an operand that was `from` and is `now`; nullopt where the
// extents do not say which of the result's follow.
std::optional<std::vector<Dim>> reshaped(const Shape& from, const Shape& now, const Shape& result);
// The operand's axis that an axis of reshape's result is; -1: none is it alone.
int reshaped_from(const Shape& from, const Shape& result, int axis);

class Derivation {
 public:
  // `active` has the bounds 1..upper; `bucket`: the places whose extent it is.
  Derivation(const Graph& source, const Symbol& active, const std::set<Place>& bucket);
  Attempt run();

 private:
  bool take_constraints();        // false: they do not hold for every extent
  bool derive(const Node& node);  // false: needed_ or why_not_ says what is missing
  std::optional<std::vector<Value>> build(const Node& node, const std::vector<Value>& operands);
  TensorType leaf_type(const Value& leaf) const;

  // What attributes become; false: they cannot be told.
  bool set_extents(const Node& node, std::vector<Value>& operands, Attributes& attributes);
  bool set_reshape(const Node& node, const Value& x, Attributes& attributes);
  bool set_expand(const Node& node, const Value& x, Attributes& attributes);
  bool set_slice(const Node& node, const Value& x, Attributes& attributes);
  bool set_split(const Node& node, const Value& x, Attributes& attributes);
  bool set_pad(const Node& node, const Value& x, Attributes& attributes);
  bool set_windows(const Node& node, const Value& x, Attributes& attributes);
  bool set_range(const Node& node, std::vector<Value>& operands, Attributes& attributes);
  // Whether the place is the bucket's; noted as open where it only could be.
  bool takes(const Place& place);

  // Extents of operands that must be the same, but one of them is the bucket's only.
  bool operands_fit(const Node& node, const std::vector<Value>& operands);
  bool same_extent(const Value& a, int axis_of_a, const Value& b, int axis_of_b);
  bool broadcast(const Node& node, size_t first, size_t second);
  bool need(Value value, int axis);
  // Numbers that may have been computed from the extent.
  bool numbers_fit(const Node& node, const std::vector<Value>& operands);
  bool shapes_fit(const Node& node);
  bool means_fit(const Node& node);
  bool positions_fit(const Node& node, const std::vector<Value>& operands);

  bool fail(std::string why);    // shapes do not fit
  bool unsure(std::string why);  // they cannot be told
  bool changed(const Value& before, int axis) const;
  const Dim& extent_now(const Value& before, int axis) const;

  const Graph& source_;
  Symbol active_;
  int64_t upper_;
  const std::set<Place>& bucket_;
  Graph result_;
  std::unordered_map<Value, Value> now_;
  std::set<const Node*> lost_;  // computed from the bucket's axis, which they do not have any more
  std::set<const Node*> clamped_;  // integers that are kept inside an axis as long as the bucket
  std::set<const Node*> scaled_;   // rows of the bucket, times its extent or divided by it
  Attempt attempt_;
};

}  // namespace tenon::graph
