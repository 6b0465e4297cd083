// Which extents of a reshape's result are which of its operand's: both shapes are cut where the
// products from the left are equal. Inside of such a piece one extent follows from the others.
#include "graph/active_derivation.h"

namespace tenon::graph {
namespace {

struct Piece {
  int from = 0, from_end = 0;      // axes of the operand
  int result = 0, result_end = 0;  // of the result
};

// A number that stands for an extent. Symbols get large primes, so that products are equal where
// the expressions are.
double size_of_extent(const Dim& extent) {
  constexpr int64_t kPrimes[] = {1000003, 1000033, 1000037, 1000039, 1000081, 1000099};
  const auto value = extent.evaluate([&](const Symbol& symbol) -> std::optional<int64_t> {
    return kPrimes[std::hash<std::string>()(symbol.name()) % std::size(kPrimes)];
  });
  return static_cast<double>(value.value_or(-1));
}

std::vector<Piece> pieces(const Shape& from, const Shape& result) {
  std::vector<Piece> all;
  Piece piece;
  double left = 1, right = 1;
  while (piece.from_end < from.rank() || piece.result_end < result.rank()) {
    const bool more_left = piece.from_end < from.rank();
    const bool fresh = piece.from == piece.from_end && piece.result == piece.result_end;
    if (fresh && more_left && piece.result_end < result.rank()) {
      left = size_of_extent(from[piece.from_end++]);
      right = size_of_extent(result[piece.result_end++]);
    } else if (more_left && (left < right || piece.result_end == result.rank())) {
      left *= size_of_extent(from[piece.from_end++]);
    } else {
      right *= size_of_extent(result[piece.result_end++]);
    }
    if (left != right) continue;
    all.push_back(piece);
    piece = {piece.from_end, piece.from_end, piece.result_end, piece.result_end};
    left = right = 1;
  }
  return all;
}

Dim product(const Shape& shape, int begin, int end, int without = -1) {
  Dim result = 1;
  for (int axis = begin; axis < end; ++axis) {
    if (axis != without) result = result * shape[axis];
  }
  return result;
}

// The one axis of the piece that takes all of the change.
bool derive_piece(const Piece& piece, const Dim& elements, const Shape& result,
                  std::vector<Dim>& dims) {
  int found = -1;
  for (int axis = piece.result; axis < piece.result_end; ++axis) {
    const Dim others = product(result, piece.result, piece.result_end, axis);
    const Dim extent = others.is_const(0) ? Dim(0) : floordiv(elements, others);
    if (extent * others != elements) continue;
    if (found >= 0) return false;
    found = axis;
    dims[static_cast<size_t>(axis)] = extent;
  }
  return found >= 0;
}

}  // namespace

std::optional<std::vector<Dim>> reshaped(const Shape& from, const Shape& now, const Shape& result) {
  std::vector<Dim> dims = result.dims();
  for (const Piece& piece : pieces(from, result)) {
    const Dim before = product(from, piece.from, piece.from_end);
    const Dim elements = product(now, piece.from, piece.from_end);
    if (elements == before) continue;
    const bool alone = piece.from_end - piece.from == 1 && piece.result_end - piece.result == 1;
    if (alone) {
      dims[static_cast<size_t>(piece.result)] = elements;
    } else if (!derive_piece(piece, elements, result, dims)) {
      return std::nullopt;
    }
  }
  return dims;
}

int reshaped_from(const Shape& from, const Shape& result, int axis) {
  for (const Piece& piece : pieces(from, result)) {
    if (axis < piece.result || axis >= piece.result_end) continue;
    for (int i = piece.from; i < piece.from_end; ++i) {
      if (from[i] == result[axis] && !from[i].is_const(1)) return i;
    }
  }
  return -1;
}

}  // namespace tenon::graph
