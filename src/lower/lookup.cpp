// Elements at positions that are data. A position becomes a symbol (a let), so that index maps of
// what is behind it work as they do with loops; a position that the compiler can see through is
// none.
#include <fmt/format.h>

#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;
using graph::Node;
using graph::Value;

namespace {

// A position that is an expression of indices and certainly inside.
std::optional<Dim> seen_through(const Expr& found, const Dim& extent) {
  if (found.op != Op::Index && found.op != Op::Const) return std::nullopt;
  const Dim at = found.op == Op::Index ? found.index : Dim(static_cast<int64_t>(found.value));
  const Dim place = prove_lt(at, 0) == Proof::Yes ? at + extent : at;
  const bool inside = prove_le(0, place) == Proof::Yes && prove_lt(place, extent) == Proof::Yes;
  return inside ? std::optional<Dim>(place) : std::nullopt;
}

}  // namespace

std::vector<Guard> where_empty(const Shape& data, const Index& place, int64_t first,
                               int64_t count) {
  std::vector<Guard> guards;
  for (int64_t axis = first; axis < first + count; ++axis) {
    const Dim& extent = data[static_cast<int>(axis)];
    if (extent.bounds().lo < 1) guards.push_back({place[static_cast<size_t>(axis)], extent});
  }
  return guards;
}

Dim Region::position(const ExprRef& found, const Dim& extent, Value data) {
  if (const auto place = seen_through(*found, extent)) return *place;
  const Symbol symbol = fresh("g", extent);
  const Value reported = regions_.stored.contains(data) ? data : result_;
  lets_.push_back(let(symbol, found, extent, argument(reported), guards_));
  return symbol;
}

Dim Region::known(const std::string& name, const ExprRef& value, const Dim& extent) {
  const Symbol symbol = fresh(name, extent);
  lets_.push_back(let_known(symbol, value, extent, guards_));
  return symbol;
}

// The position that an element of `indices` names; the same look-up is made once.
Dim Region::look_up(Value indices, const Index& where, const Dim& extent, Value data) {
  std::string key = fmt::format("{} {} {}", static_cast<const void*>(indices.node), indices.result,
                                extent.to_string());
  for (const Dim& dim : where) key += " " + dim.to_string();
  for (const Guard& guard : guards_)
    key += " if " + guard.index.to_string() + " " + guard.bound.to_string();
  if (const auto it = let_names_.find(key); it != let_names_.end()) return it->second;
  const Dim place = position(at(indices, where), extent, data);
  if (const auto symbol = place.as_symbol()) let_names_.emplace(std::move(key), *symbol);
  return place;
}

ExprRef Region::gather(const Node& node, const Index& index) {
  const auto axis = node.attributes().integer("axis");
  const Value data = node.operand(0), indices = node.operand(1);
  reads_part(data, node);
  const int64_t width = indices.shape().rank();
  const Index where(index.begin() + axis, index.begin() + axis + width);
  Index source(index.begin(), index.begin() + axis);
  source.push_back(look_up(indices, where, data.shape()[static_cast<int>(axis)], data));
  source.insert(source.end(), index.begin() + axis + width, index.end());
  return within(where_empty(data.shape(), source, axis, 1), data, source);
}

ExprRef Region::gather_elements(const Node& node, const Index& index) {
  const auto axis = node.attributes().integer("axis");
  const Value data = node.operand(0);
  reads_part(data, node);
  Index source = index;
  source[static_cast<size_t>(axis)] =
      look_up(node.operand(1), index, data.shape()[static_cast<int>(axis)], data);
  return within(where_empty(data.shape(), source, axis, 1), data, source);
}

ExprRef Region::gather_nd(const Node& node, const Index& index) {
  const int64_t batch = node.attributes().integer("batch_dims");
  const Value data = node.operand(0), indices = node.operand(1);
  reads_part(data, node);
  const int rank = indices.shape().rank();
  const Index where(index.begin(), index.begin() + (rank - 1));
  Index source(index.begin(), index.begin() + batch);
  const int64_t named = indices.shape()[rank - 1].const_value();
  for (int64_t i = 0; i < named; ++i) {
    const Dim& extent = data.shape()[static_cast<int>(batch + i)];
    source.push_back(look_up(indices, with(where, i), extent, data));
  }
  source.insert(source.end(), index.begin() + (rank - 1), index.end());
  return within(where_empty(data.shape(), source, batch, named), data, source);
}

// The values that top_k takes, at the indices it found.
ExprRef Region::taken(const Node& top_k, const Index& index) {
  const auto axis = top_k.attributes().integer("axis");
  const Value data = top_k.operand(0);
  Index source = index;
  source[static_cast<size_t>(axis)] =
      look_up({&top_k, 1}, index, data.shape()[static_cast<int>(axis)], data);
  return at(data, source);
}

}  // namespace tenon::lower
