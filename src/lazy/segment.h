// Segments of a trace: the operations of one device between two copies. A segment knows what it
// reads and what others need of it, and has a key that is the same for every segment that computes
// the same from other data.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "lazy/trace.h"

namespace tenon::lazy {

// Structure only: rules by identity, values numbered by first use, so `x + x` and `x + y` differ.
// Values of variables are not in it.
using SegmentKey = std::vector<uint64_t>;

struct Segment {
  Device device = Device::Cpu();
  int level = 0;
  std::vector<int> steps;           // of the trace, in order; constants may be in several
  std::vector<TraceValue> inputs;   // by first use
  std::vector<TraceValue> outputs;  // that targets, copies and other segments read
  SegmentKey key;
};

// In an order in which they can be done, without copies.
std::vector<Segment> segments_of(const Trace& trace);

// Inputs are "in0", "in1", ..., outputs "out0", ...
graph::Graph graph_of(const Trace& trace, const Segment& segment);

}  // namespace tenon::lazy
