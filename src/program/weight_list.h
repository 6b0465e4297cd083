// The data of parameters in the order in which an artifact has them, each once: what parameters
// share, and what programs have of the same name with the same bytes.
#pragma once

#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "program/artifact_header.h"

namespace tenon::program {

class WeightList {
 public:
  // Its number. The data must outlive the list.
  int add(const std::string& name, std::span<const std::byte> data) {
    const auto [found, fresh] = by_place_.try_emplace({data.data(), data.size()}, next());
    if (!fresh) return found->second;
    std::vector<int>& namesakes = by_name_[name];
    for (const int other : namesakes) {
      if (is_equal(items_[static_cast<size_t>(other)], data)) return found->second = other;
    }
    namesakes.push_back(next());
    items_.push_back(data);
    offsets_.push_back(bytes_);
    bytes_ += align_artifact(data.size());
    return found->second;
  }

  std::span<const std::span<const std::byte>> items() const { return items_; }
  const std::vector<uint64_t>& offsets() const { return offsets_; }
  uint64_t bytes() const { return bytes_; }

 private:
  int next() const { return static_cast<int>(items_.size()); }
  static bool is_equal(std::span<const std::byte> a, std::span<const std::byte> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
  }

  std::map<std::pair<const std::byte*, size_t>, int> by_place_;
  std::map<std::string, std::vector<int>> by_name_;
  std::vector<std::span<const std::byte>> items_;
  std::vector<uint64_t> offsets_;
  uint64_t bytes_ = 0;
};

}  // namespace tenon::program
