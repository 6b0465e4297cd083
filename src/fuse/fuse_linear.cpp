// Gathers matmul + bias + activation + residual into one linear, whose kernel applies them to a
// tile while it is in registers. Each matmul with a matrix of weights (and each linear that is
// still incomplete) is followed along its only users: activation((x @ w) * row_scale + bias) +
// residual, in this order, each step optional. A value that something else needs, or that is an
// output, ends the chain there.
#include <unordered_set>

#include "fuse/fuse.h"
#include "fuse/match.h"
#include "graph/activation.h"
#include "graph/linear_parts.h"

namespace tenon::fuse {
namespace {

using graph::Activation;
using graph::LinearParts;
using graph::Node;
using graph::Op;
using graph::Value;

using Matches = std::unordered_map<const Node*, LinearParts>;

std::optional<LinearParts> seed(const Node& node) {
  if (node.op() == Op::Linear) return parts_of(node);
  if (node.op() != Op::MatMul || !is_float(node.operand(0).dtype())) return std::nullopt;
  Value x = node.operand(0);
  Value w = node.operand(1);
  if (w.shape().rank() != 2 || x.shape().rank() < 2) return std::nullopt;
  return LinearParts{x, w};
}

bool take_activation(LinearParts& parts, const Node& user) {
  std::optional<Activation> kind = graph::parse_activation(info(user.op()).text);
  if (!kind || parts.activation != Activation::None) return false;
  parts.activation = *kind;
  return true;
}

// A factor for each row of the product.
bool take_row_scale(LinearParts& parts, const Node& mul, Value value) {
  Value factor = other_operand(mul, value);
  if (!factor || parts.row_scale || parts.bias || parts.activation != Activation::None)
    return false;
  std::vector<Dim> rows = value.shape().dims();
  rows.back() = 1;
  if (!same_shape(factor.shape(), Shape(std::move(rows)))) return false;
  parts.row_scale = factor;
  return true;
}

bool take_addend(LinearParts& parts, const Node& add, Value value) {
  Value addend = other_operand(add, value);
  if (!addend || !same_shape(Value{&add}.shape(), value.shape())) return false;
  const Dim& columns = parts.w.shape()[1];
  bool before_activation = parts.activation == Activation::None;
  if (before_activation && !parts.bias && is_row_vector(addend, columns)) {
    parts.bias = addend;
    return true;
  }
  if (!same_shape(addend.shape(), value.shape())) return false;
  parts.residual = addend;
  return true;
}

bool take(LinearParts& parts, const Node& user, Value value) {
  if (user.op() == Op::Mul) return take_row_scale(parts, user, value);
  return user.op() == Op::Add ? take_addend(parts, user, value) : take_activation(parts, user);
}

// Follows one seed; records the chain at its last node. An addition belongs to one chain only:
// seeds come in reverse order, so of two linears that are added the later one takes the other as
// its residual.
void follow(const Node& first, LinearParts parts, const graph::UseLists& uses, Matches& matches,
            std::unordered_set<const Node*>& taken) {
  const Node* last = &first;
  while (!parts.residual) {
    Value value{last};
    const Node* user = uses.only_user(value);
    if (!user || taken.contains(user)) break;
    if (!take(parts, *user, value)) break;
    taken.insert(user);
    last = user;
  }
  if (last != &first || first.op() == Op::MatMul) matches[last] = parts;
}

}  // namespace

graph::Graph fuse_linear(const graph::Graph& graph, const graph::Claims& claims) {
  graph::UseLists uses(graph);
  Matches matches;
  std::unordered_set<const Node*> taken;
  std::vector<const Node*> order = graph.topological();
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    if (std::optional<LinearParts> parts = seed(**node)) {
      follow(**node, *parts, uses, matches, taken);
    }
  }
  return replace_matches(graph, claims, matches, [](const Site& site, const LinearParts& m) {
    Value bias = m.bias ? site.vector(m.bias) : Value{};
    return site.taken(site.g.linear(site.moved(m.x), site.moved(m.w), bias, site.moved(m.residual),
                                    m.activation, site.moved(m.row_scale)));
  });
}

}  // namespace tenon::fuse
