// The functions that gates of recurrent layers apply, as ops of the graph (graph/gate_activation.h
// has their meaning).
#pragma once

#include "legalize/term.h"

namespace tenon::legalize::decompositions {

class Gates {
 public:
  // Those of one direction among `directions`, in the attributes of a recurrent node.
  Gates(const graph::Attributes& attributes, int64_t direction, int64_t directions);

  Term apply(size_t function, const Term& x) const;

 private:
  struct Gate {
    std::string name;
    double alpha, beta;
  };
  std::vector<Gate> gates_;
  double clip_;  // 0: none
};

}  // namespace tenon::legalize::decompositions
