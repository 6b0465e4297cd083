// Counting n-grams: every gram is compared with every place of a row at once, and the matches are
// summed.
#include <algorithm>
#include <map>

#include "legalize/term.h"

namespace tenon::legalize::decompositions {

using graph::Op;

namespace {

constexpr size_t kTogether = 256;  // grams that are compared at once: constants are small

struct Grams {
  std::vector<std::vector<int64_t>> elements;
  std::vector<int64_t> places;
};

// By length, at most kTogether in a group.
std::vector<Grams> groups_of(const graph::Attributes& attributes) {
  const auto &pool = attributes.integers("pool"), &lengths = attributes.integers("lengths");
  std::map<int64_t, std::vector<Grams>> by_length;
  auto at = pool.begin();
  for (size_t i = 0; i < lengths.size(); ++i) {
    std::vector<Grams>& groups = by_length[lengths[i]];
    if (groups.empty() || groups.back().places.size() == kTogether) groups.emplace_back();
    groups.back().elements.emplace_back(at, at + lengths[i]);
    groups.back().places.push_back(attributes.integers("places")[i]);
    at += lengths[i];
  }
  std::vector<Grams> result;
  for (auto& [length, groups] : by_length) {
    result.insert(result.end(), groups.begin(), groups.end());
  }
  return result;
}

// How often each gram stands in each row of i64[rows, width], its elements `stride` apart.
Term occurrences(const Term& rows, const Grams& grams, int64_t stride) {
  Graph& g = rows.g();
  const auto length = static_cast<int64_t>(grams.elements[0].size());
  const Dim count = rows.shape()[0];
  const Dim starts = max(rows.shape()[1] - (length - 1) * stride, 0);
  std::vector<Term> same;
  for (int64_t k = 0; k < length; ++k) {
    std::vector<int64_t> wanted;
    for (const auto& gram : grams.elements) wanted.push_back(gram[static_cast<size_t>(k)]);
    const Dim first =
        min(k * stride, rows.shape()[1] - starts);  // of a row that is too short: its end
    const Term part(g, g.slice(rows, {0, first}, {count, starts}, {1, 1}));
    const Term here = equal(part.reshape({count, starts, 1}), Term(g, g.integers(wanted)));
    same.push_back(same.empty() ? here : both(same.back(), here));
  }
  const Term sums = same.back().as(DType::I64).reduce(Op::ReduceSum, 1);
  return sums.reshape({count, static_cast<int64_t>(grams.places.size())});
}

}  // namespace

std::vector<Value> count_grams(Graph& g, const Node& node, std::span<const Value> operands) {
  const Value x = operands[0];
  const int64_t skips = node.attributes().integer("skips");
  const Shape& result = node.types()[0].shape;
  const Dim width = x.shape()[x.shape().rank() - 1];
  const Dim count = x.shape().rank() == 1 ? Dim(1) : x.shape()[0];
  const Term rows = Term(g, x).as(DType::I64).reshape({count, width});
  Value counts = g.expand(g.reshape(number(g, 0), {1, 1}), {count, result[result.rank() - 1]});
  for (const Grams& grams : groups_of(node.attributes())) {
    const auto length = static_cast<int64_t>(grams.elements[0].size());
    std::optional<Term> found;
    for (int64_t stride = 1; stride <= (length == 1 ? 1 : skips + 1); ++stride) {
      if (prove_lt(width, (length - 1) * stride + 1) == Proof::Yes) break;  // beyond: none fits
      const Term more = occurrences(rows, grams, stride);
      found = found ? *found + more : more;
    }
    if (!found) continue;
    const Value places = g.expand(g.integers(grams.places), found->shape().dims());
    counts = g.apply(Op::ScatterElements, {counts, places, *found},
                     {{"axis", int64_t{1}}, {"reduction", std::string("add")}});
  }
  return {Term(g, counts).as(node.types()[0].dtype).reshape(result.dims())};
}

}  // namespace tenon::legalize::decompositions
