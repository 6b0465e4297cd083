// Runs the passes in order until a round changes nothing. Folding exposes identities and identities
// expose folding, but real models settle in two or three rounds; the limit only guards against
// rules that undo each other.
#include "simplify/simplify.h"

namespace tenon::simplify {

graph::Graph simplify(const graph::Graph& source) {
  constexpr int kRounds = 8;
  graph::Graph graph = source;
  Digest before = graph::digest(graph);
  for (int round = 0; round < kRounds; ++round) {
    for (const Pass& pass : kPasses) graph = pass.run(graph);
    const Digest after = graph::digest(graph);
    if (after == before) break;
    before = after;
  }
  return graph;
}

}  // namespace tenon::simplify
