// Axes that are data: which axes of a tensor of known rank a vector names, and what other vectors
// with an entry per name say of each axis.
#pragma once

#include "legalize/term.h"

namespace tenon::legalize::decompositions {

class NamedAxes {
 public:
  NamedAxes(Graph& g, Value axes, int rank);

  const Term& named() const { return named_; }  // bool[rank]
  const Term& wrong() const { return wrong_; }  // bool[]: one is out of range, or named twice
  Term none() const;                            // bool[]: no axis is named
  // i64[rank]: of each axis the entry of `values`, or `otherwise` where it is not named.
  Term spread(const Term& values, const Operand& otherwise) const;
  // The axes that may be named: those that constants name, or all.
  const std::vector<int>& possible() const { return possible_; }

 private:
  Graph& g_;
  Dim count_;
  Term hits_;  // bool[rank, count]
  Term named_, wrong_;
  std::vector<int> possible_;
};

}  // namespace tenon::legalize::decompositions
