// What a candidate costs before anybody compiled it: how much code it is, and how much it computes.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "kernel/kernel.h"
#include "tune/extents.h"

namespace tenon::tune {

struct Cost {
  double code = 0;  // operations once unrolled loops are copied and specializations written out
  double work = 0;  // operations that run, at the extents; a vector is one
  std::map<std::string_view, double> kinds;  // of code
};

Cost cost_of(const kernel::Kernel& scheduled, const Extents& extents);
// "fma 1536, load 320, store 96"
std::string largest_kinds(const Cost& cost);

}  // namespace tenon::tune
