// See tile_shape.h.
#include "schedule/gpu/tile_shape.h"

#include <algorithm>

namespace tenon::schedule {
namespace {

// The large one, the small one.
constexpr TileShape kTensorTiles[] = {{128, 128, 32, 128, 2, 2, 4}, {32, 64, 64, 128, 2, 2, 4}};
constexpr TileShape kFmaTiles[] = {{128, 128, 16, 256, 0, 0, 2}, {64, 64, 16, 256, 0, 0, 2}};

// Of the operands' tiles, whichever way they lie, with what keeps their rows apart.
int64_t staged_bytes(const TileShape& shape, int64_t element) {
  const int64_t padding = 16 / std::min<int64_t>(element, 16) * std::max(shape.rows, shape.cols);
  return shape.stages * element * ((shape.rows + shape.cols) * shape.depth + 2 * padding);
}

int64_t tiles_of(int64_t extent, int64_t tile) { return (extent + tile - 1) / tile; }

}  // namespace

TileShape choose_tile(const TileNeeds& needs) {
  const auto& shapes = needs.tensor_cores ? kTensorTiles : kFmaTiles;
  const int64_t large = tiles_of(needs.rows, shapes[0].rows) * tiles_of(needs.cols, shapes[0].cols);
  TileShape shape = shapes[large >= needs.multiprocessors ? 0 : 1];
  while (shape.stages > 2 && staged_bytes(shape, needs.element_bytes) > needs.shared_bytes)
    --shape.stages;
  return shape;
}

Layout tensor_layout(const TileShape& shape, const Dim& t, const Dim& e) {
  const int64_t warp_rows = shape.rows / shape.warp_rows, warp_cols = shape.cols / shape.warp_cols;
  const int64_t across = warp_cols / 8;
  const Dim warp = floordiv(t, 32), lane = mod(t, 32), r = mod(e, 4);
  const Dim fragment_row = floordiv(e, across * 4), fragment_col = mod(floordiv(e, 4), across);
  return {.row = floordiv(warp, shape.warp_cols) * warp_rows + fragment_row * 16 +
                 floordiv(r, 2) * 8 + floordiv(lane, 4),
          .col = mod(warp, shape.warp_cols) * warp_cols + fragment_col * 8 + mod(lane, 4) * 2 +
                 mod(r, 2),
          .elements = shape.rows * shape.cols / shape.threads,
          .lanes = 2};
}

// 16 x 16 threads; four columns side by side, the next four a whole strip away.
Layout fma_layout(const TileShape& shape, const Dim& t, const Dim& e) {
  constexpr int64_t kSide = 16, kStrip = 4;
  const int64_t rows = shape.rows / kSide, cols = shape.cols / kSide;
  const Dim in_row = mod(e, cols);
  return {.row = floordiv(t, kSide) * rows + floordiv(e, cols),
          .col = mod(t, kSide) * kStrip + mod(in_row, kStrip) +
                 floordiv(in_row, kStrip) * (kSide * kStrip),
          .elements = rows * cols,
          .lanes = kStrip};
}

}  // namespace tenon::schedule
