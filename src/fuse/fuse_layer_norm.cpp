// Finds layer_norm where an exporter wrote it out: d = x - mean(x), d / sqrt(mean(d * d) + eps) *
// scale + bias, with factors grouped and operands ordered in any way. Each square root that is a
// standard deviation is followed along its users while the value on the way is a product of 1 /
// sqrt, d and scale, until the bias is added. The matches of a square root that other uses keep
// alive are dropped: the statistics would be computed twice.
#include <unordered_set>

#include "fuse/fuse.h"
#include "fuse/match.h"

namespace tenon::fuse {
namespace {

using graph::Node;
using graph::Op;
using graph::Value;

struct Match {
  Value x, scale, bias;
  double epsilon = 0;
  const Node* root = nullptr;  // the square root
};

// (1 / sqrt, or sqrt before it is inverted) [* centred] [* scale]
struct State {
  Value value;
  bool inverted = false;
  bool has_centred = false;
  Value scale = {};
};

struct Statistics {
  Value x, centred;
  double epsilon;
  Dim columns;
};

Value mean_of(Value value) {
  if (value.op() != Op::ReduceMean || !reduces_last_axis(*value.node)) return {};
  return value.node->operand(0);
}

// d where the value is d * d.
Value square_of(Value value) {
  if (value.op() != Op::Mul && value.op() != Op::Pow) return {};
  Value a = value.node->operand(0);
  Value b = value.node->operand(1);
  bool square = value.op() == Op::Mul ? a == b : scalar_constant(b) == 2.0;
  return square && a.type() == value.type() ? a : Value{};
}

// What is under the root, where it is a variance plus epsilon over the last axis.
std::optional<Statistics> statistics(Value radicand) {
  if (radicand.op() != Op::Add) return std::nullopt;
  Value variance = radicand.node->operand(0);
  Value epsilon = radicand.node->operand(1);
  if (scalar_constant(variance)) std::swap(variance, epsilon);
  std::optional<double> eps = scalar_constant(epsilon);
  if (!eps || *eps < 0) return std::nullopt;
  Value squares = mean_of(variance);
  Value centred = squares ? square_of(squares) : Value{};
  if (!centred || centred.op() != Op::Sub) return std::nullopt;
  Value x = centred.node->operand(0);
  if (!(mean_of(centred.node->operand(1)) == x)) return std::nullopt;
  return Statistics{x, centred, *eps, x.shape()[x.shape().rank() - 1]};
}

// Multiplies by the centred value, the scale, or both.
bool multiply(State& state, Value factor, const Statistics& s) {
  if (factor == s.centred) return !std::exchange(state.has_centred, true);
  if (is_row_vector(factor, s.columns)) {
    if (state.scale) return false;
    state.scale = factor;
    return true;
  }
  if (factor.op() != Op::Mul || state.has_centred || state.scale) return false;
  Value a = factor.node->operand(0);
  Value b = factor.node->operand(1);
  if (b == s.centred) std::swap(a, b);
  if (!(a == s.centred) || !is_row_vector(b, s.columns)) return false;
  state.has_centred = true;
  state.scale = b;
  return true;
}

// Takes the state to the result of a user; false where the form is left.
bool advance(State& state, const Node& user, const Statistics& s) {
  Value value = std::exchange(state.value, Value{&user});
  switch (user.op()) {
    case Op::Reciprocal:
      return !std::exchange(state.inverted, true);
    case Op::Div:
      if (state.inverted || !(user.operand(1) == value) || user.operand(0) == value) return false;
      state.inverted = true;
      return scalar_constant(user.operand(0)) == 1.0 || multiply(state, user.operand(0), s);
    case Op::Mul: {
      Value factor = other_operand(user, value);
      return factor && state.inverted && multiply(state, factor, s);
    }
    default:
      return false;
  }
}

using Matches = std::unordered_map<const Node*, Match>;

// Follows all users of a standard deviation to the additions of a bias.
void match_users(const Node& root, const graph::UseLists& uses, Matches& matches) {
  std::optional<Statistics> s = statistics(root.operand(0));
  if (!s) return;
  std::vector<State> work{{.value = Value{&root}}};
  while (!work.empty()) {
    State state = work.back();
    work.pop_back();
    for (const graph::UseLists::Use& use : uses.uses(state.value)) {
      State next = state;
      if (use.user->op() != Op::Add) {
        if (advance(next, *use.user, *s)) work.push_back(next);
        continue;
      }
      Value bias = other_operand(*use.user, state.value);
      bool complete = state.inverted && state.has_centred && state.scale && bias;
      if (!complete || !is_row_vector(bias, s->columns)) continue;
      if (!(Value{use.user}.type() == s->x.type())) continue;
      matches[use.user] = {s->x, state.scale, bias, s->epsilon, &root};
    }
  }
}

// The nodes still needed once the matches are replaced.
std::unordered_set<const Node*> alive(const graph::Graph& graph, const Matches& matches) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> work;
  auto need = [&](Value value) {
    if (seen.insert(value.node).second) work.push_back(value.node);
  };
  for (const graph::Output& output : graph.outputs()) need(output.value);
  while (!work.empty()) {
    const Node* node = work.back();
    work.pop_back();
    if (auto match = matches.find(node); match != matches.end()) {
      for (Value value : {match->second.x, match->second.scale, match->second.bias}) need(value);
    } else {
      for (Value operand : node->operands()) need(operand);
    }
  }
  return seen;
}

}  // namespace

graph::Graph fuse_layer_norm(const graph::Graph& graph) {
  graph::UseLists uses(graph);
  Matches matches;
  for (const Node* node : graph.topological()) {
    if (node->op() == Op::Sqrt) match_users(*node, uses, matches);
  }
  std::unordered_set<const Node*> needed = alive(graph, matches);
  std::erase_if(matches, [&](const auto& item) { return needed.contains(item.second.root); });
  return replace_matches(graph, matches, [](const Site& site, const Match& m) {
    Value x = site.moved(m.x);
    return site.g.layer_norm(x, site.vector(m.scale), site.vector(m.bias), m.epsilon);
  });
}

}  // namespace tenon::fuse
