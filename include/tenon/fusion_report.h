// FusionReport: which known patterns a compile found in a model, which it missed and why.
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
  struct Missed {
    std::string pattern;
    std::string origin;  // of the node that would have been its heart
    std::string reason;
    std::string hint;  // what to change
  };
  std::vector<Count> counts;                  // one row per known pattern, found or not
  std::vector<Missed> missed = {};            // known patterns that are still written out
  int found(std::string_view pattern) const;  // 0 for an unknown pattern
  std::string to_string() const;
  std::string to_json() const;
};

// Throws an Error of kind Unsupported with the whole report where something was missed.
void check_fusion_clean(const FusionReport& report);

}  // namespace tenon
