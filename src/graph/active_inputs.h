// Which axes of inputs are the bucket's. Those that are marked are, and no other axis of such an
// input. Of the others it is a guess, which only holds where no input would have to shrink on an
// axis beside its own: else the input stays whole, where that is the one way that fits.
#pragma once

#include "graph/active_derivation.h"
#include "graph/active_extent.h"

namespace tenon::graph {

class ActiveInputs {
 public:
  // `active` has the bounds 1..upper. An input is in one of the two at most.
  ActiveInputs(const Graph& graph, const Symbol& active, const BucketAxes& marked,
               const BucketAxes& guessed);
  Attempt settle() const;

 private:
  using Places = std::set<Place>;
  using Nodes = std::set<const Node*>;

  Attempt settle_all(Places& bucket) const;
  // Further places are the bucket's where the graph fits no other way; of `fixed` inputs only those
  // that are guessed.
  Attempt attempt(Places& bucket, const Nodes& fixed) const;
  // From the guesses on only those that clash with nothing that is sure.
  Attempt without_clashes(const Attempt& clash, Places& bucket) const;
  // The guessed axis must be the bucket's by what is known of inputs, cannot be, or by the guess.
  enum class Guess : uint8_t { Holds, Clashes, Unknown };
  Guess guess(const Place& place, const Places& known) const;
  Places sure() const;
  Attempt ambiguous(const Place& place) const;

  const Graph& graph_;
  Symbol active_;
  int64_t upper_;
  Places marked_, guessed_;
  Nodes all_;  // inputs
};

}  // namespace tenon::graph
