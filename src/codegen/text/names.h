// Identifiers for the names of a kernel, in languages like C: what they do not allow in a name
// becomes `_`, and no two different names meet.
#pragma once

#include <map>
#include <set>
#include <string>

namespace tenon::codegen {

class Names {
 public:
  std::string fresh(const std::string& name);      // another one every time
  const std::string& of(const std::string& name);  // the same one every time

 private:
  std::map<std::string, std::string> identifiers_;
  std::set<std::string> taken_;
};

}  // namespace tenon::codegen
