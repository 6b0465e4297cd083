// The cases that are not expected to pass: a line each, a name or a pattern (* and ?) and the
// reason. Lines that begin with # are comments.
#pragma once

#include <string>
#include <vector>

namespace tenon::onnx_test {

class SkipList {
 public:
  SkipList() = default;
  explicit SkipList(
      const std::string& path);  // User error where it cannot be read or has no reason

  const std::string* reason(const std::string& name) const;  // null: not in the list

 private:
  struct Line {
    std::string pattern, reason;
  };
  std::vector<Line> lines_;
};

}  // namespace tenon::onnx_test
