// Active extent: a graph compiled for a bucket, an axis of `upper` rows, that computes only the
// rows a run has. CompiledGraph::set_active_extent says how many.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon {

// What the compiler knows of an input beside its type.
struct InputOptions {
  // The axis of the bucket, whose extent must be a constant; -1: the first axis whose extent is the
  // bucket's, should there be one. A marked graph is compiled for its active extent at once, and so
  // is what it is saved as.
  int bucket_axis = -1;
};

// What an active extent changes.
struct ActiveExtentReport {
  struct Input {
    std::string name;
    std::vector<int> axes;  // of the bucket: one, more where nothing else would fit
  };
  struct Output {
    std::string name;
    std::string shape;     // f32[active.extent, 64]
    bool shrinks = false;  // it has the bucket's axis: rows past the active ones are kept
  };
  int64_t upper = 0;  // the bucket's extent; 0: there is none
  std::vector<Input> inputs = {};
  std::vector<Output> outputs = {};
  // Why shapes do not follow from the active extent: the whole program runs at full extent. Empty
  // where they do.
  std::string fallback = {};

  std::string to_string() const;
};

}  // namespace tenon
