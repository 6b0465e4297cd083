// See skip_list.h.
#include "tools/onnx_test/skip_list.h"

#include <fnmatch.h>

#include <fstream>

#include "base/error.h"

namespace tenon::onnx_test {

SkipList::SkipList(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw user_error("{} cannot be read", path);
  int number = 0;
  for (std::string text; std::getline(file, text);) {
    ++number;
    const size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string::npos || text[begin] == '#') continue;
    const size_t end = text.find_first_of(" \t", begin);
    const size_t reason = end == std::string::npos ? end : text.find_first_not_of(" \t", end);
    if (reason == std::string::npos) throw user_error("{}:{}: a reason is missing", path, number);
    lines_.push_back({text.substr(begin, end - begin), text.substr(reason)});
  }
}

const std::string* SkipList::reason(const std::string& name) const {
  for (const Line& line : lines_) {
    if (fnmatch(line.pattern.c_str(), name.c_str(), 0) == 0) return &line.reason;
  }
  return nullptr;
}

}  // namespace tenon::onnx_test
