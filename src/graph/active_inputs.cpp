// See active_inputs.h: attempts, each with more places for the bucket's, until one fits.
#include "graph/active_inputs.h"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::graph {
namespace {

std::set<const Node*> nodes_of(const std::set<Place>& places) {
  std::set<const Node*> nodes;
  for (const Place& place : places) nodes.insert(place.node);
  return nodes;
}

std::string described(const Node& node) {
  const std::string name = node.name().empty() ? "" : fmt::format("\"{}\" ", node.name());
  return name + node.types()[0].to_string();
}

}  // namespace

ActiveInputs::ActiveInputs(const Graph& graph, const Symbol& active, const BucketAxes& marked,
                           const BucketAxes& guessed)
    : graph_(graph), active_(active), upper_(active.bounds().hi) {
  for (const Value& input : graph.inputs()) {
    const std::string& name = input.node->name();
    all_.insert(input.node);
    if (const auto axis = marked.find(name); axis != marked.end())
      marked_.insert({input.node, axis->second});
    if (const auto axis = guessed.find(name); axis != guessed.end())
      guessed_.insert({input.node, axis->second});
  }
}

Attempt ActiveInputs::attempt(Places& bucket, const Nodes& fixed) const {
  for (;;) {
    Attempt attempt = Derivation(graph_, active_, bucket).run();
    if (!attempt.needed) return attempt;
    const Place needed = *attempt.needed;
    if (fixed.contains(needed.node) && !guessed_.contains(needed)) {
      attempt.needed.reset();
      attempt.clashes = true;
      attempt.why_not = fmt::format("[input] {}: axis {} would be the bucket's, which is not its",
                                    described(*needed.node), needed.axis);
      return attempt;
    }
    bucket.insert(needed);
  }
}

Attempt ActiveInputs::ambiguous(const Place& place) const {
  Attempt attempt;
  attempt.why_not =
      fmt::format("[{}] extent {} of axis {} of {} may be the bucket's or not",
                  info(place.node->op()).text, upper_, place.axis, described(*place.node));
  return attempt;
}

// Where none is marked: the axis of an input that has no other so long.
ActiveInputs::Places ActiveInputs::sure() const {
  if (!marked_.empty()) return marked_;
  Places result;
  for (const Place& place : guessed_) {
    const Shape& shape = place.node->types()[0].shape;
    if (std::ranges::count(shape, Dim(upper_)) == 1) result.insert(place);
  }
  return result;
}

// An input with some axis of the bucket by need may have the guessed one too, or not.
ActiveInputs::Guess ActiveInputs::guess(const Place& place, const Places& known) const {
  const bool has_another = nodes_of(known).contains(place.node);
  Places with = known;
  with.insert(place);
  const Attempt attempt = this->attempt(with, has_another ? nodes_of(sure()) : all_);
  if (attempt.clashes) return Guess::Clashes;
  return attempt.graph && !has_another ? Guess::Holds : Guess::Unknown;
}

Attempt ActiveInputs::without_clashes(const Attempt& clash, Places& bucket) const {
  bucket = sure();
  if (bucket.empty()) return clash;
  Attempt result = attempt(bucket, nodes_of(bucket));
  if (!result.graph) return result;
  const Places known = bucket;
  for (const Place& place : guessed_) {
    if (known.contains(place)) continue;
    const Guess guessed = guess(place, known);
    if (guessed == Guess::Unknown) return ambiguous(place);
    if (guessed == Guess::Holds) bucket.insert(place);
  }
  return attempt(bucket, all_);
}

Attempt ActiveInputs::settle_all(Places& bucket) const {
  bucket.insert(guessed_.begin(), guessed_.end());
  Attempt result = attempt(bucket, all_);
  return result.clashes ? without_clashes(result, bucket) : std::move(result);
}

Attempt ActiveInputs::settle() const {
  Places bucket = marked_;
  Attempt result = settle_all(bucket);
  for (const Place& place : result.open) {
    if (!result.graph) break;
    Places other = bucket;
    other.insert(place);
    const Attempt as_bucket = attempt(other, nodes_of(marked_));
    if (as_bucket.graph || as_bucket.unknown) return ambiguous(place);
  }
  return result;
}

}  // namespace tenon::graph
