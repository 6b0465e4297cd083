// Fusion on the tensor IR. The patterns find again, in graphs of primitives, the fused ops that
// have kernels of their own; partition then decides which values exist in memory at all. Everything
// else is computed inside its consumers.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/claims.h"
#include "graph/graph.h"
#include "tenon/fusion_options.h"
#include "tenon/fusion_report.h"

namespace tenon::fuse {

// Each pass is one file: what it looks for stands at the top of it. New nodes have the origin of
// the node they replace. A pattern whose fused op the backend does not take stays written out.
//
// x * 0.5 * (1 + erf(x / sqrt 2)), in any grouping
graph::Graph fuse_gelu(const graph::Graph& graph, const graph::Claims& claims = {});
// x * sigmoid(x)
graph::Graph fuse_silu(const graph::Graph& graph, const graph::Claims& claims = {});
// exp(x - max) / sum
graph::Graph fuse_softmax(const graph::Graph& graph, const graph::Claims& claims = {});
// x / sqrt(mean(x^2) + epsilon) * scale
graph::Graph fuse_rms_norm(const graph::Graph& graph, const graph::Claims& claims = {});
// pairs of each head turned by angles
graph::Graph fuse_rotary(const graph::Graph& graph, const graph::Claims& claims = {});
// mean, centre, variance, scale, bias
graph::Graph fuse_layer_norm(const graph::Graph& graph, const graph::Claims& claims = {});
// softmax(q k^T * scale + mask) v on split heads, with shared key heads, softcap, causal masks
graph::Graph fuse_attention(const graph::Graph& graph, const graph::Claims& claims = {});
// matmul + bias + activation + residual
graph::Graph fuse_linear(const graph::Graph& graph, const graph::Claims& claims = {});
// activation(x @ gate) * (x @ up)
graph::Graph fuse_gated_linear(const graph::Graph& graph, const graph::Claims& claims = {});
// a norm that only linears read becomes their row scale
graph::Graph fold_row_scale(const graph::Graph& graph, const graph::Claims& claims = {});
// linears of one input become one, with concatenated weights
graph::Graph fuse_shared_input(const graph::Graph& graph, const graph::Claims& claims = {});
// conv(x, w) * scale + shift with scale in w, and shift as the bias
graph::Graph scale_weights(const graph::Graph& graph);

// Where a value lies inside the memory of another one.
struct Place {
  graph::Value in;
  Dim offset;  // in elements
};

struct Part {
  graph::Value value;
  Dim offset;  // in elements
};

struct Regions {
  std::vector<graph::Value> roots;            // values that exist in memory, operands before users
  std::unordered_set<graph::Value> stored;    // the same, and the leaves
  std::unordered_set<graph::Value> prologue;  // roots that depend on parameters and constants only
  // Scales of rows, by the roots whose kernels make them, and the roots that make those.
  std::unordered_map<graph::Value, graph::Value> row_scales;
  std::unordered_set<graph::Value> made_beside;
  // Stored values without memory of their own; what they lie in has some.
  std::unordered_map<graph::Value, Place> places;
  // Roots that no kernel computes: their elements are computed where they belong, all but these
  // parts, which are put there when it is the root's turn.
  std::unordered_map<graph::Value, std::vector<Part>> assembled;
  // Stored images whose channels, axis 1, lie innermost in memory.
  std::unordered_set<graph::Value> channels_last;
};

// Of a root that is a cast to fewer bits: what it casts, where the kernel that computes that stores
// the cast in its place.
std::optional<graph::Value> narrowed(graph::Value root, const Regions& regions);

// Names of symbols that have values before a graph's inputs are bound: those around a body.
using OuterSymbols = std::set<std::string>;

// The cost rule, in one place: which values are stored, which recomputed by their consumers.
Regions partition(const graph::Graph& graph, const OuterSymbols& outer = {},
                  const FusionLimits& limits = {});
// Puts updates of states after whatever reads rows that they write over; an Error where that must
// come after them.
void order_updates(Regions& regions);
// Fills places and assembled: values that are bytes of others, and concats whose parts are computed
// in place.
void place(const graph::Graph& graph, const OuterSymbols& outer, Regions& regions);

// Fills channels_last: images that convolutions of many channels read, and what goes with them.
void channels_last(const graph::Graph& graph, Regions& regions);
// With which a stored value lies in memory of its own.
std::vector<Dim> strides_of(const Regions& regions, const graph::Value& value);

// Compares the graph before fusion with the legalized one: what legalization took apart again is
// missed, too.
FusionReport fusion_report(const graph::Graph& before, const graph::Graph& after,
                           const graph::Claims& claims = {});
// Known patterns that the graph still has written out.
std::vector<FusionReport::Missed> missed_fusions(const graph::Graph& after,
                                                 const graph::Claims& claims);

}  // namespace tenon::fuse
