// Which elements of a vector are chosen: how many only the data says.
#pragma once

#include "legalize/term.h"

namespace tenon::legalize::decompositions {

// The positions of the flags that are set, in order; `count` (one symbol) gets its value here.
Term positions_of(const Term& flags, const std::vector<Dim>& count);

// The index into `shape` of the elements at row-major positions, a vector for each axis.
std::vector<Term> delinearized(const Term& positions, const Shape& shape);

// Vectors of one length as the rows, or the columns, of a matrix.
Value stacked(Graph& g, const std::vector<Term>& vectors, int64_t axis);

}  // namespace tenon::legalize::decompositions
