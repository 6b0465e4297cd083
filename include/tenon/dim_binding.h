// DimBinding: values for the symbols of a model's shapes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

namespace tenon {

//   graph.peak_bytes({{"batch", 8}, {"seq", 128}});
//   graph.set_extents(DimBinding::batch_seq(8, 128));
class DimBinding {
 public:
  DimBinding() = default;
  DimBinding(std::initializer_list<std::pair<const std::string, int64_t>> values)
      : values_(values) {}
  explicit DimBinding(std::map<std::string, int64_t> values) : values_(std::move(values)) {}
  static DimBinding batch_seq(int64_t batch, int64_t seq) {
    return {{"batch", batch}, {"seq", seq}};
  }

  const std::map<std::string, int64_t>& values() const { return values_; }
  bool empty() const { return values_.empty(); }
  bool operator==(const DimBinding&) const = default;

 private:
  std::map<std::string, int64_t> values_;
};

}  // namespace tenon
