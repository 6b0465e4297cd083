// Elements around coordinates that are data: what resize, grids, regions and deformed windows
// share. Coordinates are f64: a rounded one would fall on the wrong side of an element.
#pragma once

#include "legalize/term.h"

namespace tenon::legalize::decompositions {

// Elements near coordinates (whole numbers in f64, perhaps outside the image) and their shares.
struct Tap {
  Term at, weight;
};

Term real(Graph& g, const Dim& value);   // an f64 scalar
Term reals(Graph& g, const Dim& count);  // 0, 1, ... as f64[count]
inline Term floor(const Term& x) { return x.unary(graph::Op::Floor); }
inline Term magnitude(const Term& x) { return x.unary(graph::Op::Abs); }

// Two elements, or four, around x; their shares are 0 where x is no number that an image could
// have.
std::vector<Tap> linear_taps(const Term& x);
std::vector<Tap> cubic_taps(const Term& x, double coefficient);
Term cubic_weight(const Term& distance, double coefficient);
Term inside(const Term& at, const Dim& extent);         // 0 <= at < extent
Term clamped_index(const Term& at, const Dim& extent);  // as i64, 0 .. extent - 1

// f32, or f64 where that is needed: what values of this dtype are weighed in.
DType working_dtype(DType dtype);
std::vector<Dim> spatial_dims(Value x);  // from the third axis on
Dim product(std::span<const Dim> dims);
std::vector<Dim> joined(std::vector<Dim> front, std::span<const Dim> back);

// For each image of [n, channels, spatial...]: the sum over all combinations of taps, one list for
// each axis, of shape [n, positions]. Taps outside count as zero. The result is
// [n, channels, positions] in the working dtype.
Term interpolated(const Term& images, const std::vector<std::vector<Tap>>& taps);

}  // namespace tenon::legalize::decompositions
