// Non-maximum suppression: boxes in the order of their scores, then one after the other, each kept
// unless one that is kept hides it.
#include "legalize/compaction.h"
#include "legalize/over_time.h"

namespace tenon::legalize::decompositions {

using graph::Op;

namespace {

// Corners of boxes, all of one shape.
struct Boxes {
  Term top, left, bottom, right;

  Term area() const { return (bottom - top) * (right - left); }
};

Boxes boxes_of(Graph& g, Value boxes, bool center) {
  const Shape& shape = boxes.shape();
  std::vector<Term> parts;
  for (int64_t i = 0; i < 4; ++i) {
    const Value part = g.slice(boxes, {0, 0, i}, {shape[0], shape[1], 1}, {1, 1, 1});
    parts.push_back(Term(g, part).as(DType::F64).reshape({shape[0], 1, shape[1]}));
  }
  if (center) {
    const Term half_width = parts[2] / 2, half_height = parts[3] / 2;
    return {parts[1] - half_height, parts[0] - half_width, parts[1] + half_height,
            parts[0] + half_width};
  }
  return {smaller(parts[0], parts[2]), smaller(parts[1], parts[3]), larger(parts[0], parts[2]),
          larger(parts[1], parts[3])};
}

// Whether two boxes share more than `limit` of what they cover together.
Term hides(const Boxes& a, const Boxes& b, const Term& limit) {
  const Term height = smaller(a.bottom, b.bottom) - larger(a.top, b.top);
  const Term width = smaller(a.right, b.right) - larger(a.left, b.left);
  const Term shared = height * width, whole = a.area() + b.area() - shared;
  const Term zero(height.g(), height.g().scalar(DType::F64, 0));
  return both(both(less(zero, height), less(zero, width)), less(limit, shared / whole));
}

Term scalar_of(Graph& g, Value one, DType dtype) { return Term(g, one).as(dtype).reshape({}); }

}  // namespace

std::vector<Value> non_max_suppression(Graph& g, const Node& node,
                                       std::span<const Value> operands) {
  const Value scores = operands[1];
  const Dim batch = scores.shape()[0], classes = scores.shape()[1], n = scores.shape()[2];
  const std::vector<Dim> all = {batch, classes, n};
  const auto top =
      g.apply_all(Op::TopK, {scores, integer(g, n)},
                  {{"axis", int64_t{2}}, {"largest", int64_t{1}}, {"count", std::vector<Dim>{n}}});
  const Boxes given = boxes_of(g, operands[0], node.attributes().integer("center") != 0);
  const auto sorted = [&](const Term& part) {
    return Term(g,
                g.apply(Op::GatherElements, {g.expand(part, all), top[1]}, {{"axis", int64_t{2}}}));
  };
  const std::vector<Value> corners = {sorted(given.top), sorted(given.left), sorted(given.bottom),
                                      sorted(given.right)};
  const auto boxes = [](Graph& graph, const std::vector<Value>& of) {
    return Boxes{{graph, of[0]}, {graph, of[1]}, {graph, of[2]}, {graph, of[3]}};
  };

  Recurrence r{n, {}, corners, {}};
  for (const Value& corner : corners) r.sequences.push_back(g.transpose(corner, {2, 0, 1}));
  r.sequences.push_back(g.transpose(Term(g, top[0]).as(DType::F64), {2, 0, 1}));
  r.fixed.push_back(scalar_of(g, operands[2], DType::I64));
  r.fixed.push_back(scalar_of(g, operands[3], DType::F64));
  r.fixed.push_back(scalar_of(g, operands[4], DType::F64));
  const Value none = g.reshape(number(g, 0), {1, 1, 1});
  r.states = {g.expand(none, all), g.expand(none, {batch, classes, 1})};  // kept, how many
  const StepOutputs last = over_time(g, r, [&](const StepInputs& in) -> StepOutputs {
    std::vector<Value> own;
    for (const Value& element : in.elements)
      own.push_back(in.g.reshape(element, {batch, classes, 1}));
    const Term kept(in.g, in.states[0]), count(in.g, in.states[1]);
    const Term most(in.g, in.fixed[4]), overlap(in.g, in.fixed[5]), least(in.g, in.fixed[6]);
    const Term hidden =
        hides(boxes(in.g, own), boxes(in.g, in.fixed), overlap).as(DType::I64) * kept;
    const Term free = equal(hidden.reduce(Op::ReduceMax, 2), 0);
    const Term good = less(least, Term(in.g, own[4]));
    const Term chosen = both(both(free, good), less(count, most)).as(DType::I64);
    const Term here = equal(Term(in.g, iota(in.g, n)), in.number).as(DType::I64);
    return {{kept + chosen * here.along(2, 3), count + chosen}, {}};
  });

  const Term flags = !equal(Term(g, last.states[0]).reshape({batch * classes * n}), 0);
  const Term found = positions_of(flags, node.attributes().dims("count"));
  const std::vector<Term> index = delinearized(found, Shape(all));
  const Value order = g.reshape(top[1], {batch * classes * n});
  return {stacked(g, {index[0], index[1], Term(g, g.gather(order, found, 0))}, 1)};
}

}  // namespace tenon::legalize::decompositions
