// What random graphs have reached: each op of the tensor IR, each dtype, and what schedules are
// made of. Everything that exists is asked for, unless the one list of exceptions says why not.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "kernel/kernel.h"

namespace tenon::differential {

class Coverage {
 public:
  Coverage();

  void count(const graph::Graph& graph);  // with the bodies of its nodes
  void count(const kernel::Kernel& kernel);

  // "op conv: 12", for what occurred less often.
  std::vector<std::string> below(int64_t least) const;
  std::string to_string() const;

 private:
  void add(const std::string& what);

  std::map<std::string, int64_t> counts_;
};

}  // namespace tenon::differential
