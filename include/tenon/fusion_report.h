// FusionReport: which known patterns a compile found in a model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon {

struct FusionReport {
  struct Count {
    std::string pattern;
    int found = 0;   // in the legalized graph
    int before = 0;  // already there in the source
  };
  std::vector<Count> counts;                  // one row per known pattern, found or not
  int found(std::string_view pattern) const;  // 0 for an unknown pattern
  std::string to_string() const;
};

}  // namespace tenon
