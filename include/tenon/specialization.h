// Specialization: code for the very extents that a graph runs at, made in the background while the
// code for any extent serves them, and put in its place between two runs. Results are the same bits
// before and after. docs/specialization.md.
#pragma once

#include <string>

namespace tenon {

struct Specialization {
  int after = 3;           // runs with the same extents before code for them is worth it
  double cpu_share = 0.1;  // of one core, that making code may take over time: above 0, at most 1
  int most = 32;           // sets of extents that have code of their own; 0: none, nothing is made

  bool operator==(const Specialization&) const = default;
};

// Of a graph and its clones together.
struct SpecializationStats {
  int shapes = 0;           // sets of extents that have code of their own now
  int pending = 0;          // that are waiting for it
  int failed = 0;           // whose code could not be made: they are not tried again
  int kernels = 0;          // compiled so far
  double milliseconds = 0;  // of CPU time that was spent
  std::string off;          // why nothing is specialized, whatever runs; empty: it is
};

}  // namespace tenon
