// Ops that slide windows over an image, and which convolutions are products of matrices.
#pragma once

#include <span>

#include "graph/graph.h"

namespace tenon::graph {

bool is_conv(Op op);  // either way round
bool is_pool(Op op);

std::span<const Dim> spatial(const Shape& shape);  // extents from the third axis on
bool all_const(std::span<const Dim> dims);
bool is_many(const Dim& channels);  // they fill a vector

// One group, many channels on both sides, and extents that are known: with its channels innermost,
// positions of the image are the rows of a matrix.
bool is_matrix_product(const Node& conv);

}  // namespace tenon::graph
