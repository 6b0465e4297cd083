// Values between the elements of an image, at coordinates that are data: the clear form, for any
// number of axes. Coordinates may be anything, NaN and infinity too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tenon::graph {

// An element near a coordinate and its share.
struct Tap {
  int64_t at;
  double weight;
};

// Two elements, or four, around `x`; none where x is no finite number that an image could have.
std::vector<Tap> linear_taps(double x);
std::vector<Tap> cubic_taps(double x, double coefficient);
double cubic_weight(double distance, double coefficient);

// The sum over all combinations of taps, one list for each axis; taps outside the image are zero.
double interpolate(std::span<const double> image, std::span<const int64_t> extents,
                   std::span<const std::vector<Tap>> taps);
double linear_or_zero(std::span<const double> image, std::span<const int64_t> extents,
                      std::span<const double> at);

}  // namespace tenon::graph
