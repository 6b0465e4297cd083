// The hash is a 64-bit finalizer (xor-shift and multiply, the constants of MurmurHash3's mixer);
// its four 16-bit lanes are the four uniform numbers.
#include "tools/make_encoder/weights.h"

namespace tenon::make_encoder {
namespace {

uint64_t mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  x ^= x >> 33;
  return x;
}

constexpr uint64_t kStep = 0x9e3779b97f4a7c15ULL;  // odd, so counters never collide

}  // namespace

WeightStream::WeightStream(uint64_t seed, std::string_view tensor) : key_(mix(seed + kStep)) {
  for (const char c : tensor) key_ = mix(key_ ^ static_cast<unsigned char>(c)) + kStep;
}

int32_t WeightStream::centred(uint64_t index) const {
  const uint64_t bits = mix(key_ + index * kStep);
  const auto sum = static_cast<int32_t>((bits & 0xffff) + ((bits >> 16) & 0xffff) +
                                        ((bits >> 32) & 0xffff) + (bits >> 48));
  return sum - 2 * 0xffff;
}

std::vector<float> WeightStream::values(int64_t count, float scale, float mean) const {
  std::vector<float> result(static_cast<size_t>(count));
  const float factor = scale * kUnit;
  for (size_t i = 0; i < result.size(); ++i) {
    const float deviation = static_cast<float>(centred(i)) * factor;
    result[i] = mean + deviation;
  }
  return result;
}

}  // namespace tenon::make_encoder
