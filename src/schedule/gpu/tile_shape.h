// Shapes of the tiles that blocks multiply, and which elements of one a thread has.
#pragma once

#include "tenon/dim.h"

namespace tenon::schedule {

// A tile's shape, and how it is divided among warps.
struct TileShape {
  int64_t rows, cols, depth;
  int64_t threads;
  int64_t warp_rows, warp_cols;  // of tensor cores: the grid of warps
  int stages;
};

// Large where there are enough of them for `multiprocessors`, with as many stages as `shared_bytes`
// hold; operands have elements of `element_bytes`.
struct TileNeeds {
  bool tensor_cores;
  int64_t rows, cols;  // of the product, as far as they are known
  int64_t element_bytes;
  int64_t multiprocessors, shared_bytes;
};
TileShape choose_tile(const TileNeeds& needs);

// Where element e of thread t lies in the tile.
struct Layout {
  Dim row, col;
  int64_t elements;  // of a thread
  int64_t lanes;     // of these lie side by side
};

Layout tensor_layout(const TileShape& shape, const Dim& t, const Dim& e);
Layout fma_layout(const TileShape& shape, const Dim& t, const Dim& e);

}  // namespace tenon::schedule
