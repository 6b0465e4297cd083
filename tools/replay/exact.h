// Which values have the same bits on every device: integers, what is moved or chosen, and what IEEE
// arithmetic rounds once. Of the others only closeness can be asked.
#pragma once

#include <unordered_map>

#include "graph/graph.h"

namespace tenon::replay {

class Exactness {
 public:
  bool operator()(graph::Value value);  // the node must outlive this

 private:
  std::unordered_map<const graph::Node*, bool> known_;
};

}  // namespace tenon::replay
