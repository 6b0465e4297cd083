// Elements of every dtype to convert: all of them where they are 8 or 16 bits wide, else those at
// powers of two and their neighbours, and random ones.
#pragma once

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernel/kernel.h"

namespace tenon::kernel_test {

inline std::vector<DType> all_dtypes() {
  std::vector<DType> result;
  for (size_t i = 0; i < std::size(kDTypes); ++i) result.push_back(static_cast<DType>(i));
  return result;
}

inline std::vector<uint64_t> wide_patterns(DType dtype) {
  std::vector<uint64_t> patterns = {0};
  const int bits = info(dtype).bits;
  std::mt19937_64 random(7);
  for (int at = 0; at < bits; ++at) {
    const uint64_t one = uint64_t{1} << at;
    for (const uint64_t pattern : {one, one - 1, one + 1, ~one, 0 - one, random() & (one - 1)}) {
      patterns.push_back(pattern);
    }
  }
  if (is_float(dtype)) {  // numbers near 1 and near the ends of the small formats
    for (int exponent = -160; exponent < 140; ++exponent) {
      for (const double number : {1.0, 1.5, 1 + 0x1p-24, 1.5 - 0x1p-30, -1.25, 1.9999999}) {
        uint64_t pattern = 0;
        store_from_f64(dtype, &pattern, std::ldexp(number, exponent));
        patterns.push_back(pattern);
      }
    }
  }
  for (int i = 0; i < 2000; ++i) patterns.push_back(random());
  return patterns;
}

inline std::vector<std::byte> cast_samples(DType dtype) {
  const auto size = static_cast<size_t>(size_of(dtype));
  const int bits = info(dtype).bits;
  std::vector<uint64_t> patterns;
  if (dtype == DType::Bool) {
    patterns = {0, 1, 1, 0, 1};
  } else if (bits <= 16) {
    for (uint64_t code = 0; code < uint64_t{1} << bits; ++code) {
      // Integers of 4 and 2 bits are extended to their byte.
      const int unused = 64 - bits;
      const bool extend = info(dtype).kind == DTypeKind::Signed;
      patterns.push_back(
          extend ? static_cast<uint64_t>(static_cast<int64_t>(code << unused) >> unused) : code);
    }
  } else {
    patterns = wide_patterns(dtype);
  }
  std::vector<std::byte> bytes(patterns.size() * size);
  for (size_t i = 0; i < patterns.size(); ++i) std::memcpy(&bytes[i * size], &patterns[i], size);
  return bytes;
}

inline kernel::Kernel cast_kernel(DType from, DType to) {
  return kernel::parse(
      "kernel convert lowered dims n: 1..100000\n  buffer x: " + std::string(to_string(from)) +
      "[n] global argument 0\n  buffer y: " + std::string(to_string(to)) +
      "[n] global argument 1 written\n  parallel i in n\n    y[i] = cast(" +
      std::string(to_string(to)) + ", x[i])\n");
}

}  // namespace tenon::kernel_test
