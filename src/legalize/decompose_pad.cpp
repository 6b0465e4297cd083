// Padding by data. Margins become one number before and after each axis; each axis is gathered at
// positions that its mode computes. Known margins stay: lowering has them as index maps.
#include <algorithm>

#include "legalize/named_axes.h"

namespace tenon::legalize::decompositions {

using graph::Op;

namespace {

struct Margins {
  Term before, after;  // of each axis
  Term wrong;          // bool[]
};

Margins margins_of(Graph& g, const NamedAxes& axes, Value pads, const Dim& count) {
  constexpr int64_t kLimit = int64_t{1} << 48;
  const Term all = integers_of(g, pads);
  g.add_constraint({Constraint::Kind::Equal, all.shape()[0], count * 2, "[pad] numbers of pads"});
  const Term before(g, g.slice(all, {0}, {count}, {1}));
  const Term after(g, g.slice(all, {count}, {count}, {1}));
  const Term far = either(any_of(more(all, kLimit)), any_of(less(all, -kLimit)));
  return {axes.spread(before, 0), axes.spread(after, 0), either(axes.wrong(), far)};
}

// Which element of an axis lies at each position; outside of it for `constant`.
Term source_of(const Term& at, const Dim& extent, const std::string& mode) {
  if (mode == "wrap") return binary(Op::Mod, at, larger(number(at.g(), extent), 1));
  if (mode == "edge") return clamped(at, 0, extent - 1);
  const Term last = number(at.g(), extent - 1);
  const Term place = binary(Op::Mod, at, larger(last * 2, 1));  // reflect: there and back again
  return smaller(place, last * 2 - place);
}

bool are_known(Value pads, Value axes) {
  const auto& named = axes.shape_value();
  return pads.shape_value() && named &&
         std::ranges::all_of(*named, [](const Dim& axis) { return axis.is_const(); });
}

// Positions on each axis that is padded, the constant where one of them is outside.
Value surrounded(Graph& g, Value x, const std::vector<Term>& at, const std::vector<int>& axes,
                 Value fill) {
  const int rank = x.shape().rank();
  std::vector<Term> inside;
  for (const int axis : axes) {
    const Dim extent = x.shape()[axis];
    const Term& position = at[static_cast<size_t>(axis)];
    const Term here = both(at_most(number(g, 0), position), less(position, extent));
    inside.push_back(here.along(axis, rank));
    // An axis that may be empty gets one element, to have something to gather.
    if (extent.bounds().lo < 1) {
      std::vector<Dim> slab = x.shape().dims();
      slab[static_cast<size_t>(axis)] = 1;
      x = g.concat({x, g.expand(fill, std::move(slab))}, axis);
    }
    x = g.gather(x, clamped(position, 0, x.shape()[axis] - 1), axis);
  }
  Term all = inside[0];
  for (size_t i = 1; i < inside.size(); ++i) all = both(all, inside[i]);
  return where(g, all, x, fill);
}

}  // namespace

std::vector<Value> pad(Graph& g, const Node& node, std::span<const Value> operands) {
  const std::string& mode = node.attributes().text("mode");
  const std::vector<Dim>& extents = node.attributes().dims("shape");
  Value x = operands[0];
  if (extents.empty() || are_known(operands[1], operands[2])) return {};
  const NamedAxes axes(g, operands[2], x.shape().rank());
  const Margins margins = margins_of(g, axes, operands[1], operands[2].shape().elements());
  const Term whole = extents_of(g, x) + margins.before + margins.after;
  const bool defined = define_own(g, choose(margins.wrong, -1, whole), extents);
  std::vector<Term> at;
  for (size_t i = 0; i < extents.size(); ++i) {
    at.push_back(Term(g, iota(g, extents[i])) - margins.before.at(static_cast<int64_t>(i)));
  }
  if (mode == "constant") {
    const Value fill = operands.size() > 3 ? operands[3] : g.scalar(x.dtype(), 0);
    if (!axes.possible().empty()) x = surrounded(g, x, at, axes.possible(), fill);
  } else {
    for (const int axis : axes.possible()) {
      x = g.gather(x, source_of(at[static_cast<size_t>(axis)], x.shape()[axis], mode), axis);
    }
  }
  return {defined ? x : checked(g, x, margins.wrong, "wrong_pads")};
}

}  // namespace tenon::legalize::decompositions
