// Which stored images lie in memory with their channels innermost. A convolution of many channels
// reads such an image as rows of a matrix, one for each position, so it wants it like that; what
// goes element by element, pools and means over positions follow what they read and what reads
// them. Shapes and indices of the graph stay as they are: the layout is the strides of a value, so
// whoever reads one that others wanted so is right all the same. What the caller or the executor
// sees is dense, and so is what a kernel reads along its last axis.
#include <algorithm>
#include <array>

#include "fuse/fuse.h"
#include "fuse/integer_product.h"
#include "graph/convolution.h"
#include "graph/fixed_nodes.h"
#include "graph/host_ops.h"

namespace tenon::fuse {
namespace {

using graph::all_const;
using graph::is_conv;
using graph::is_many;
using graph::is_pool;
using graph::Node;
using graph::Op;
using graph::spatial;
using graph::Value;

// How a region reads a stored value.
enum class Reading : uint8_t {
  Follows,  // in whatever order the value has
  Wants,    // as an image of a convolution that channels innermost are for
  Through,  // through a view: the order may help or not
  Refuses,  // along its last axis
};
constexpr size_t kReadings = 4;

// More positions than one: otherwise there is nothing to choose.
bool is_image(const Value& value) {
  const Shape& shape = value.shape();
  const DType dtype = value.dtype();
  if (shape.rank() < 3 || (dtype != DType::F32 && dtype != DType::U8 && dtype != DType::I8))
    return false;
  return !std::ranges::all_of(spatial(shape), [](const Dim& dim) { return dim.is_const(1); });
}

// Elements of the result lie where those of the operands do, axis by axis.
bool keeps_axes(const Node& node) {
  if (graph::has(node.op(), graph::kReduction)) {
    const auto& axes = node.attributes().integers("axes");
    return std::ranges::all_of(axes, [](int64_t axis) { return axis >= 2; });
  }
  return graph::has(node.op(), graph::kElementwise) || is_pool(node.op()) ||
         node.op() == Op::Concat || node.op() == Op::Slice || node.op() == Op::Pad;
}

bool is_view(Op op) { return op == Op::Reshape || op == Op::Transpose || op == Op::Expand; }

class Layouts {
 public:
  Layouts(const graph::Graph& graph, Regions& regions)
      : uses_(graph), fixed_(graph::fixed_nodes(graph.topological())), regions_(regions) {}

  void run() {
    for (const Value& root : regions_.roots) {
      if (!regions_.prologue.contains(root)) look_into(root);
    }
    for (const auto& [value, place] : regions_.places) refused_.insert({value, place.in});
    for (const auto& [value, parts] : regions_.assembled) refused_.insert(value);
    spread();
    std::erase_if(regions_.roots, [&](const Value& root) {
      if (!goes_into_panels(root)) return false;
      regions_.stored.erase(root);
      regions_.prologue.erase(root);
      return true;
    });
  }

 private:
  struct Read {
    Value value;
    Reading how;
  };

  // Who reads an image that has its channels innermost now, and what its region reads, may follow.
  void spread() {
    std::vector<Value> pending(regions_.roots.rbegin(), regions_.roots.rend());
    while (!pending.empty()) {
      const Value root = pending.back();
      pending.pop_back();
      if (regions_.channels_last.contains(root) || !may_be(root) || !is_wanted(root)) continue;
      regions_.channels_last.insert(root);
      for (const Read& read : reads_[root]) pending.push_back(read.value);
      for (const Value& reader : readers_[root]) pending.push_back(reader);
    }
  }

  bool takes_weights(const Node& conv) const {
    const Value w = conv.operand(1);
    return conv.op() == Op::Conv && conv.attributes().integer("groups") == 1 &&
           fixed_.contains(w.node) && all_const(w.shape().dims()) && is_many(w.shape()[0]) &&
           all_const(spatial(conv.types()[0].shape));
  }
  // Whether channels innermost are for the image that the convolution reads.
  bool wants_image(const Node& conv) const {
    return takes_weights(conv) && is_many(conv.operand(1).shape()[1]) &&
           all_const(spatial(conv.operand(0).shape()));
  }

  Reading read_by(const Node& user, int operand, const Value& value) const {
    if (is_conv(user.op())) {
      if (operand >= 2) return Reading::Follows;
      const Value image = operand == 0 ? image_of(user) : value;
      if (!regions_.stored.contains(image) || operand == 1) return Reading::Refuses;
      return wants_image(user) ? Reading::Wants : Reading::Refuses;
    }
    if (keeps_axes(user)) return Reading::Follows;
    return is_view(user.op()) ? Reading::Through : Reading::Refuses;
  }

  // Finds what the region reads, and whether it can store its root with channels innermost.
  void look_into(const Value& root) {
    if (graph::is_host_op(root.op())) {
      refused_.insert(root);
      refused_.insert(root.node->operands().begin(), root.node->operands().end());
      return;
    }
    if (!keeps_axes(*root.node) && root.op() != Op::Conv) refused_.insert(root);
    std::vector<Read> pending{{root, Reading::Follows}};
    std::array<std::unordered_set<Value>, kReadings> seen;
    while (!pending.empty()) {
      const Read at = pending.back();
      pending.pop_back();
      if (!seen[static_cast<size_t>(at.how)].insert(at.value).second) continue;
      if (at.value != root && regions_.stored.contains(at.value)) {
        note(root, at);
        continue;
      }
      const Node& node = *at.value.node;
      if (is_conv(node.op()) && !takes_weights(node)) refused_.insert(root);
      for (int i = 0; i < node.operand_count(); ++i) {
        const Value operand = node.operand(i);
        pending.push_back({operand, std::max(at.how, read_by(node, i, operand))});
      }
    }
  }

  void note(const Value& root, const Read& read) {
    if (!is_image(read.value) || fixed_.contains(read.value.node)) return;
    reads_[root].push_back(read);
    readers_[read.value].push_back(root);
    if (read.how == Reading::Refuses) refused_.insert(read.value);
    if (read.how == Reading::Wants) wanted_.insert(read.value);
  }

  bool may_be(const Value& root) const {
    const Shape& shape = root.shape();
    return is_image(root) && is_many(shape[1]) && all_const(spatial(shape)) &&
           !refused_.contains(root) && !regions_.prologue.contains(root) && !uses_.is_output(root);
  }

  bool is_wanted(const Value& root) const {
    if (wanted_.contains(root)) return true;
    const auto is_so = [&](const Value& value) { return regions_.channels_last.contains(value); };
    const auto follows = [&](const Read& read) {
      return read.how != Reading::Through && is_so(read.value);
    };
    const auto reads = reads_.find(root);
    if (reads != reads_.end() && std::ranges::all_of(reads->second, follows)) return true;
    const auto readers = readers_.find(root);
    return readers != readers_.end() && std::ranges::all_of(readers->second, is_so);
  }

  // Weights that are computed as they are packed: only convolutions read them that pack them.
  bool goes_into_panels(const Value& root) const {
    if (!regions_.prologue.contains(root) || !graph::has(root.op(), graph::kElementwise))
      return false;
    return std::ranges::all_of(uses_.uses(root), [&](const graph::UseLists::Use& use) {
      return use.user->op() == Op::Conv && use.operand == 1 &&
             regions_.channels_last.contains(use.user->operand(0));
    });
  }

  graph::UseLists uses_;
  graph::FixedNodes fixed_;
  Regions& regions_;
  std::unordered_map<Value, std::vector<Read>> reads_;
  std::unordered_map<Value, std::vector<Value>> readers_;
  std::unordered_set<Value> refused_, wanted_;
};

}  // namespace

std::vector<Dim> strides_of(const Regions& regions, const Value& value) {
  const Shape& shape = value.shape();
  if (!regions.channels_last.contains(value)) return shape.strides();
  std::vector<Dim> strides(static_cast<size_t>(shape.rank()), 1);
  Dim stride = shape[1];
  for (int axis = shape.rank(); axis-- > 2;) {
    strides[static_cast<size_t>(axis)] = stride;
    stride = stride * shape[axis];
  }
  strides[0] = stride;
  return strides;
}

void channels_last(const graph::Graph& graph, Regions& regions) { Layouts(graph, regions).run(); }

}  // namespace tenon::fuse
