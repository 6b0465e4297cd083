#include "graph/cast_rounding.h"

namespace tenon::graph {

NarrowRounding cast_rounding(const Attributes& attributes) {
  using enum NarrowRounding::PowerOfTwo;
  NarrowRounding rounding;
  rounding.saturate = attributes.integer("saturate", 1) != 0;
  if (attributes.find("rounding") != nullptr) {
    const std::string& name = attributes.text("rounding");
    rounding.power_of_two = name == "down" ? Down : name == "nearest" ? Nearest : Up;
  }
  return rounding;
}

}  // namespace tenon::graph
