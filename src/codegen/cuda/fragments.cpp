// See fragments.h.
#include "codegen/cuda/fragments.h"

#include "base/error.h"

namespace tenon::codegen::cuda {
namespace {

constexpr int64_t kWarpThreads = 32;

bool is_same(const Dim& a, const Dim& b, const Symbol& thread, int64_t threads) {
  if (a == b) return true;
  for (int64_t t = 0; t < threads; ++t) {
    if (a.substitute(thread, t) != b.substitute(thread, t)) return false;
  }
  return true;
}

}  // namespace

Fragments fragments_of(const kernel::TileMma& tile, const std::string& kernel) {
  const auto row_of = [&](int64_t e) { return tile.row.substitute(tile.element, e); };
  int64_t across = 1;
  while (across * 4 < tile.elements && row_of(across * 4) == row_of(0)) ++across;
  Fragments result{tile.elements / 4 / across, across, 0};
  const int64_t warps = tile.threads / kWarpThreads;
  result.warps_across = tile.cols / result.cols();
  const bool covers =
      result.down * across * 4 == tile.elements &&
      result.warps_across * result.cols() == tile.cols && tile.threads % kWarpThreads == 0 &&
      result.rows() * (warps / std::max<int64_t>(result.warps_across, 1)) == tile.rows;
  TENON_CHECK(covers, "kernel {}: a tile of {} x {} is no grid of warps", kernel, tile.rows,
              tile.cols);
  const Dim warp = floordiv(tile.thread, kWarpThreads), lane = mod(tile.thread, kWarpThreads);
  const Dim warp_row = floordiv(warp, result.warps_across),
            warp_col = mod(warp, result.warps_across);
  for (int64_t e = 0; e < tile.elements; ++e) {
    const int64_t down = e / (across * 4), right = e / 4 % across, r = e % 4;
    const Dim row = warp_row * result.rows() + down * 16 + r / 2 * 8 + floordiv(lane, 4);
    const Dim col = warp_col * result.cols() + right * 8 + mod(lane, 4) * 2 + r % 2;
    TENON_CHECK(is_same(row_of(e), row, tile.thread, tile.threads) &&
                    is_same(tile.col.substitute(tile.element, e), col, tile.thread, tile.threads),
                "kernel {}: element {} of a tile is not where tensor cores have it", kernel, e);
  }
  return result;
}

OperandStrides operand_strides(const kernel::Expr& load, const Symbol& outer, const Symbol& k,
                               const std::string& kernel) {
  const auto by_outer = load.index.coefficient(outer), by_k = load.index.coefficient(k);
  TENON_CHECK(by_outer && by_k && by_outer->is_const() && by_k->is_const(),
              "kernel {}: an operand of a tile at {}", kernel, load.index.to_string());
  return {load.index.substitute(outer, 0).substitute(k, 0), by_outer->const_value(),
          by_k->const_value()};
}

}  // namespace tenon::codegen::cuda
