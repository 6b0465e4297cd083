// Movement whose targets are data: the target's numbers are computed by small integer ops, become
// the values of symbols, and the op is the one with known extents. A number that cannot be is -1,
// which no symbol accepts.
#include "legalize/named_axes.h"

namespace tenon::legalize::decompositions {

namespace {

using Own = const std::vector<Dim>&;

// Extents that the op's attribute names as its own symbols, unless something is wrong.
void define_unless(Graph& g, const Term& wrong, const Term& extents, Own own) {
  define_own(g, choose(wrong, -1, extents), own);
}

// 0 keeps the extent at its place unless `exact`; one -1 is what is left over.
void define_reshaped(Graph& g, Value x, const Term& target, bool exact, Own own) {
  constexpr int64_t kNothing = -2;  // to keep where there is no such place
  Term extents = target;
  if (!exact) {
    std::vector<Dim> kept = x.shape().dims();
    kept.resize(own.size(), kNothing);
    extents = choose(equal(target, 0), Value(g.dims(std::move(kept))), target);
  }
  const Term free = equal(extents, -1);
  const Term others = product_of(choose(free, 1, extents));
  const Term rest = number(g, x.shape().elements()) / larger(others, 1);
  const Term wrong =
      either(more(sum_of(free.as(DType::I64)), 1), both(any_of(free), equal(others, 0)));
  define_unless(g, wrong, choose(free, rest, extents), own);
}

// The axes that are named have the extent 1, and go.
void define_squeezed(Graph& g, Value x, Value axes, Own own) {
  const NamedAxes gone(g, axes, x.shape().rank());
  const Term extents = extents_of(g, x);
  const Term other = any_of(both(gone.named(), !equal(extents, 1)));
  define_unless(g, either(gone.wrong(), other),
                compressed(extents, !gone.named(), static_cast<int64_t>(own.size())), own);
}

// The axes that are named come between the others.
void define_unsqueezed(Graph& g, Value x, Value axes, Own own) {
  const auto rank = static_cast<int>(own.size());
  const NamedAxes added(g, axes, rank);
  Term extents(g, g.integers(std::vector<int64_t>(own.size(), 1)));
  if (x.shape().rank() > 0) {
    const Term places = clamped(count_before(!added.named()), 0, x.shape().rank() - 1);
    extents = choose(added.named(), 1, Value(g.gather(extents_of(g, x), places, 0)));
  }
  define_unless(g, added.wrong(), extents, own);
}

}  // namespace

std::vector<Value> reshape_to(Graph& g, const Node& node, std::span<const Value> operands) {
  const Value x = operands[0];
  const std::string& mode = node.attributes().text("mode");
  Own own = node.attributes().dims("shape");
  if (own.empty()) {
    const bool wrong = mode == "squeeze" && x.shape().rank() > 0;
    const NamedAxes axes(g, operands[1], x.shape().rank());
    return {wrong ? checked(g, g.reshape(x, {}), axes.wrong(), "wrong_axes") : g.reshape(x, {})};
  }
  if (mode == "squeeze") {
    define_squeezed(g, x, operands[1], own);
  } else if (mode == "unsqueeze") {
    define_unsqueezed(g, x, operands[1], own);
  } else {
    define_reshaped(g, x, integers_of(g, operands[1]), mode == "exact", own);
  }
  return {g.reshape(x, own)};
}

// Extents of 1 on either side give way to the other's.
std::vector<Value> expand_to(Graph& g, const Node& node, std::span<const Value> operands) {
  const Value x = operands[0];
  Own own = node.attributes().dims("shape");
  const size_t rank = own.size();
  const Term target = integers_of(g, operands[1]);
  std::vector<Dim> from(rank - x.shape().dims().size(), 1);
  from.insert(from.end(), x.shape().begin(), x.shape().end());
  const Dim missing = static_cast<int64_t>(rank) - target.shape()[0];
  const Term ones(g, g.expand(integer(g, 1), {missing}));
  const Term to(g, missing.is_const(0) ? Value(target) : g.concat({ones, target}, 0));
  const Term before(g, g.dims(from));
  const Term fits = either(equal(to, before), either(equal(to, 1), equal(before, 1)));
  const Term wrong = either(any_of(less(to, 0)), any_of(!fits));
  const Term extents = choose(equal(to, 1), before, to);
  const bool defined = define_own(g, choose(wrong, -1, extents), own);
  const Value result = g.expand(x, own);
  return {defined ? result : checked(g, result, wrong, "wrong_target")};
}

}  // namespace tenon::legalize::decompositions
