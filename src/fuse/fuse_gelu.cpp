// Finds gelu where an exporter wrote it out: x * 0.5 * (1 + erf(x / sqrt 2)), with products grouped
// and operands ordered in any way, or 0.5 + 0.5 * erf in the sum. Each erf is followed along its
// only users while the value on the way is `x^p * (a + b * erf)`; it is gelu as soon as p is 1 and
// a and b are 0.5. Values on the way that something else needs end the search: the erf would have
// to be computed anyway.
#include "fuse/fuse.h"
#include "fuse/match.h"

namespace tenon::fuse {
namespace {

using graph::Node;
using graph::Op;
using graph::Value;

// x^power * (a + b * erf(x / sqrt 2)), power 0 or 1.
struct State {
  Value x;
  int power = 0;
  double a = 0;
  double b = 1;
  bool is_gelu() const { return power == 1 && close(a, 0.5) && close(b, 0.5); }
};

constexpr double kSqrtHalf = 0.70710678118654752;

bool multiply(State& state, Value factor) {
  double by = 1;
  if (std::optional<double> c = scalar_constant(factor)) {
    by = *c;
  } else {
    if (!(factor == state.x)) {
      std::optional<Scaled> scaled = as_scaled(factor);
      if (!scaled || !(scaled->value == state.x)) return false;
      by = scaled->factor;
    }
    if (++state.power > 1) return false;
  }
  state.a *= by;
  state.b *= by;
  return true;
}

// Takes the state from `value` to the result of its user; false where the form is left.
bool advance(State& state, const Node& user, Value value) {
  switch (user.op()) {
    case Op::Add: {
      Value term = other_operand(user, value);
      std::optional<double> c = term ? scalar_constant(term) : std::nullopt;
      if (!c || state.power != 0) return false;
      state.a += *c;
      return true;
    }
    case Op::Mul: {
      Value factor = other_operand(user, value);
      return factor && multiply(state, factor);
    }
    case Op::Div: {
      std::optional<double> c = scalar_constant(user.operand(1));
      if (!c || !(user.operand(0) == value)) return false;
      state.a /= *c;
      state.b /= *c;
      return true;
    }
    default:
      return false;
  }
}

struct Match {
  const Node* last;
  Value x;
};

std::optional<Match> match_gelu(const Node& erf, const graph::UseLists& uses) {
  std::optional<Scaled> argument = as_scaled(erf.operand(0));
  if (!argument || !close(argument->factor, kSqrtHalf, erf.types()[0].dtype)) return std::nullopt;
  State state{.x = argument->value};
  Value value{&erf};
  while (const Node* user = uses.only_user(value)) {
    if (!advance(state, *user, value)) return std::nullopt;
    value = Value{user};
    if (state.is_gelu() && value.type() == state.x.type()) return Match{user, state.x};
  }
  return std::nullopt;
}

}  // namespace

graph::Graph fuse_gelu(const graph::Graph& graph, const graph::Claims& claims) {
  graph::UseLists uses(graph);
  std::unordered_map<const Node*, Value> matches;
  for (const Node* node : graph.topological()) {
    if (node->op() != Op::Erf) continue;
    if (std::optional<Match> match = match_gelu(*node, uses)) matches[match->last] = match->x;
  }
  return replace_matches(graph, claims, matches, [](const Site& site, Value x) {
    return site.taken(site.g.gelu(site.moved(x)));
  });
}

}  // namespace tenon::fuse
