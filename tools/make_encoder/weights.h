// Weights from a counter: element i of a tensor depends on the seed, the tensor's name and i, on
// nothing else, and is made with integer arithmetic and one multiplication. The same on every
// machine, in every form of the model.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tenon::make_encoder {

class WeightStream {
 public:
  WeightStream(uint64_t seed, std::string_view tensor);

  // About normal (the sum of four uniform numbers), of mean 0 and variance 1.
  float normal(uint64_t index) const { return static_cast<float>(centred(index)) * kUnit; }
  // `count` elements: mean + scale * normal.
  std::vector<float> values(int64_t count, float scale, float mean = 0) const;

 private:
  static constexpr float kUnit = 1.0f / 37837.23f;  // 1 / (2 * 65536 / sqrt(12))
  int32_t centred(uint64_t index) const;            // -131070 .. 131070

  uint64_t key_;
};

}  // namespace tenon::make_encoder
