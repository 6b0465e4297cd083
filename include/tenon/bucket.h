// Bucket: a range of extents that one compiled graph serves.
#pragma once

#include <cstdint>

namespace tenon {

// begin, begin + 1, ..., end - 1.
struct Bucket {
  int64_t begin = 0, end = 0;
  int64_t upper() const { return end - 1; }  // what its graph is compiled for
  bool operator==(const Bucket&) const = default;
};

}  // namespace tenon
