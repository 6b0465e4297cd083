// Random numbers. Element i takes the words of philox(counter = (i, hash of the token), key =
// seed): a uniform number has the upper 53 of the first 64 bits as its fraction, a normal one is
// made of two of them by Box and Muller's formula.
#include <cmath>
#include <numbers>

#include "graph/evaluate.h"
#include "graph/philox.h"

namespace tenon::graph::evaluators {

namespace {

uint32_t low(uint64_t word) { return static_cast<uint32_t>(word); }
uint32_t high(uint64_t word) { return static_cast<uint32_t>(word >> 32); }

// FNV-1a.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

double fraction(uint32_t upper, uint32_t lower) {
  return static_cast<double>(((uint64_t{upper} << 32) | lower) >> 11) * 0x1p-53;
}

template <typename Function>
Tensor drawn(const Evaluation& e, Function f) {
  const auto seed = static_cast<uint64_t>(e.attributes().integer("seed"));
  const uint64_t token = hash_of(e.attributes().text("token"));
  const Extents shape = e.values_of(e.attributes().dims("shape"));
  std::vector<double> values(static_cast<size_t>(element_count(shape)));
  for (uint64_t i = 0; i < values.size(); ++i) {
    const PhiloxWords words =
        philox({low(i), high(i), low(token), high(token)}, {low(seed), high(seed)});
    values[i] = f(fraction(words[0], words[1]), fraction(words[2], words[3]));
  }
  return from_doubles(e.dtype(), shape, values);
}

}  // namespace

// The fraction has no more bits than the dtype: rounded up it could be 1, and the result `high`.
Results random_uniform(const Evaluation& e) {
  const double low_end = e.attributes().number("low"), high_end = e.attributes().number("high");
  const double step = e.dtype() == DType::F64   ? 0x1p-53
                      : e.dtype() == DType::F32 ? 0x1p-24
                      : e.dtype() == DType::F16 ? 0x1p-11
                                                : 0x1p-8;
  return {drawn(e, [&](double u, double) {
    return low_end + (high_end - low_end) * std::floor(u / step) * step;
  })};
}

Results random_normal(const Evaluation& e) {
  const double mean = e.attributes().number("mean"), scale = e.attributes().number("scale");
  return {drawn(e, [&](double u, double v) {
    const double radius = std::sqrt(-2 * std::log(1 - u));  // 1 - u is never 0
    return mean + scale * radius * std::cos(2 * std::numbers::pi * v);
  })};
}

}  // namespace tenon::graph::evaluators
