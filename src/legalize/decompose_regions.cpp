// Regions of interest: the largest element of each bin, or samples between elements. Regions are
// data; those that cannot be end the run with an error.
#include <limits>

#include "legalize/sampling.h"

namespace tenon::legalize::decompositions {

using graph::Op;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One column of a matrix, as a vector.
Term column(const Term& matrix, int64_t i) {
  Graph& g = matrix.g();
  const Dim rows = matrix.shape()[0];
  return Term(g, g.slice(matrix, {0, i}, {rows, 1}, {1, 1})).reshape({rows});
}

// True where one of the flags is, also for none at all.
Term any(const Term& flags) {
  Graph& g = flags.g();
  const Term none(g, g.integers({0}));
  const Term all(g, g.concat({none, flags.as(DType::I64)}, 0));
  return more(all.reduce(Op::ReduceMax, 0), 0).reshape({});
}

// Which image each region is in, and whether that is none.
struct Owners {
  Term images, wrong;
};
Owners owners_of(const Term& numbers, const Dim& images) {
  const Term real = numbers.as(DType::F64);
  return {clamped(real, 0, images - 1).as(DType::I64), any(!inside(real, images))};
}

// Half away from zero, as far as an image can reach.
Term rounded(const Term& x) {
  const Term limited = clamped(x, -0x1p40, 0x1p40);
  const Term down = (limited - 0.5).unary(Op::Ceil);
  return choose(less(limited, 0), down, floor(limited + 0.5));
}

// Whether each element of an axis is in each bin: bool[regions, bins, extent]; and whether a bin
// has none: bool[regions, bins].
struct Bins {
  Term elements, empty;
};
Bins bins_of(const Term& from, const Term& to, double scale, int64_t bins, const Dim& extent) {
  Graph& g = from.g();
  const Dim regions = from.shape()[0];
  const Term start = rounded(from * scale).reshape({regions, 1});
  const Term end = rounded(to * scale).reshape({regions, 1});
  const Term width = larger(end - start + 1, 1) / static_cast<double>(bins);
  const Term i = reals(g, bins);
  const Term first = clamped(floor(width * i) + start, 0, extent);
  const Term last = clamped((width * (i + 1)).unary(Op::Ceil) + start, 0, extent);
  const Term at = reals(g, extent);
  const Term low = first.reshape({regions, bins, 1}), high = last.reshape({regions, bins, 1});
  return {both(at_most(low, at), less(-high, -at)), at_most(last, first)};
}

}  // namespace

// Over the columns of a row first, then over rows.
std::vector<Value> roi_pool(Graph& g, const Node& node, std::span<const Value> operands) {
  const Value x = operands[0];
  const Term rois = Term(g, operands[1]).as(DType::F64);
  const std::vector<int64_t>& bins = node.attributes().integers("extents");
  const double scale = node.attributes().number("scale");
  const Dim n = rois.shape()[0], channels = x.shape()[1], height = x.shape()[2],
            width = x.shape()[3];
  const Owners owners = owners_of(column(rois, 0), x.shape()[0]);
  const Bins columns = bins_of(column(rois, 1), column(rois, 3), scale, bins[1], width);
  const Bins rows = bins_of(column(rois, 2), column(rois, 4), scale, bins[0], height);
  const Term images(g, g.gather(x, owners.images, 0));
  const Term wide = choose(columns.elements.reshape({n, 1, 1, bins[1], width}),
                           images.reshape({n, channels, height, 1, width}), -kInfinity)
                        .reduce(Op::ReduceMax, 4);  // [n, channels, height, bins, 1]
  const Term high = choose(rows.elements.reshape({n, 1, bins[0], height, 1}),
                           wide.reshape({n, channels, 1, height, bins[1]}), -kInfinity)
                        .reduce(Op::ReduceMax, 3);
  const Term empty =
      either(rows.empty.reshape({n, 1, bins[0], 1}), columns.empty.reshape({n, 1, 1, bins[1]}));
  const Term result = choose(empty, 0.0, high.reshape({n, channels, bins[0], bins[1]}));
  const Term numbers = equal(rois, rois).reshape({n * 5});
  return {checked(g, result, either(owners.wrong, any(!numbers)), "wrong_region")};
}

namespace {

// The samples of one axis: element and share of both neighbours, [regions, bins, samples, 2].
struct Samples {
  Dim most;    // samples of a bin
  Term count;  // f64[regions]
  Term wrong;  // bool[]
  Term at, weight;
  Term counts;  // bool[regions, bins, samples, 1]: whether the sample is one
  Term seen;    // the same: whether it lies in the image
};

Samples samples_of(const Node& node, const Term& from, const Term& to, int64_t bins,
                   const Dim& extent) {
  Graph& g = from.g();
  const graph::Attributes& a = node.attributes();
  const Dim regions = from.shape()[0];
  const bool half = a.integer("half_pixel") != 0;
  const double shift = half ? 0.5 : 0;
  const Term start = from * a.number("scale") - shift;
  Term length = to * a.number("scale") - shift - start;
  if (!half) length = larger(length, 1);
  const Term width = length / static_cast<double>(bins);
  const Term possible = both(less(magnitude(start), 0x1p31), less(magnitude(width), 0x1p16));
  const int64_t fixed = a.integer("samples");
  Dim most = fixed;
  Term count = width * 0 + static_cast<double>(fixed);
  if (fixed == 0) {
    count = choose(possible, larger(width.unary(Op::Ceil), 0), 0.0);
    const Term all(g, g.concat({g.integers({0}), count.as(DType::I64)}, 0));
    most = define(g, all.reduce(Op::ReduceMax, 0), "samples", int64_t{1} << 17)[0];
  }
  auto per_region = [&](const Term& t) { return t.reshape({regions, 1, 1, 1}); };
  const Term s = reals(g, most).reshape({1, 1, most, 1});
  const Term i = reals(g, bins).reshape({1, bins, 1, 1});
  const Term step = per_region(width / count);
  const Term x = per_region(start) + i * per_region(width) + (s + 0.5) * step;
  const Term limited = clamped(x, 0, extent - 1);
  const Term low = floor(limited), rest = limited - low;
  const Term second = reals(g, 2).reshape({1, 1, 1, 2});
  const Term at = smaller(low + second, extent - 1);
  const Term weight = choose(equal(second, 0), -rest + 1, rest);
  return {most,
          count,
          any(!possible),
          at.as(DType::I64),
          weight,
          less(s, per_region(count)),
          both(!less(x, -1), at_most(x, extent))};
}

}  // namespace

// Samples of both axes and their neighbours are one axis, over which the result is reduced.
std::vector<Value> roi_align(Graph& g, const Node& node, std::span<const Value> operands) {
  const Value x = operands[0];
  const Term rois = Term(g, operands[1]).as(DType::F64);
  const std::vector<int64_t>& bins = node.attributes().integers("extents");
  const Dim n = rois.shape()[0], channels = x.shape()[1], height = x.shape()[2],
            width = x.shape()[3];
  if (height.is_const(0) || width.is_const(0)) {
    return {g.expand(g.scalar(x.dtype(), 0), node.types()[0].shape.dims())};
  }
  const Owners owners = owners_of(Term(g, operands[2]), x.shape()[0]);
  const Samples rows = samples_of(node, column(rois, 1), column(rois, 3), bins[0], height);
  const Samples columns = samples_of(node, column(rois, 0), column(rois, 2), bins[1], width);
  const Dim terms = rows.most * columns.most * 4;
  auto of_rows = [&](const Term& t) {
    return t.reshape({n, 1, t.shape()[1], 1, rows.most, 1, t.shape()[3], 1});
  };
  auto of_columns = [&](const Term& t) {
    return t.reshape({n, 1, 1, t.shape()[1], 1, columns.most, 1, t.shape()[3]});
  };
  const std::vector<Dim> full{n, 1, bins[0], bins[1], rows.most, columns.most, 2, 2};
  const std::vector<Dim> flat{n, 1, bins[0], bins[1], terms};
  auto flattened = [&](const Term& t) { return Term(g, g.expand(t, full)).reshape(flat); };
  const Term place = flattened(of_rows(rows.at) * width + of_columns(columns.at));
  const DType dtype = working_dtype(x.dtype());
  const Term weight = flattened(of_rows(rows.weight) * of_columns(columns.weight)).as(dtype);
  const Term counts = flattened(both(of_rows(rows.counts), of_columns(columns.counts)));
  const Term seen = flattened(both(of_rows(rows.seen), of_columns(columns.seen)));
  const Term plane = owners.images.reshape({n, 1, 1, 1, 1}) * channels +
                     Term(g, iota(g, channels)).reshape({1, channels, 1, 1, 1});
  const Value elements = g.reshape(x, {x.shape().elements()});
  const Term value = Term(g, g.gather(elements, plane * (height * width) + place, 0)).as(dtype);
  const Term part = choose(both(seen, counts), value * weight, 0.0);
  const Term samples = (rows.count * columns.count).reshape({n, 1, 1, 1}).as(dtype);
  const std::vector<Dim> shape{n, channels, bins[0], bins[1]};
  Term result = part;
  if (node.attributes().text("mode") == "avg") {
    result = part.reduce(Op::ReduceSum, 4).reshape(shape) / larger(samples, 1);
  } else {
    result = choose(counts, part, -kInfinity).reduce(Op::ReduceMax, 4).reshape(shape);
    result = choose(equal(samples, 0), 0.0, result);
  }
  const Term wrong = either(owners.wrong, either(rows.wrong, columns.wrong));
  return {checked(g, result.as(x.dtype()), wrong, "wrong_region")};
}

}  // namespace tenon::legalize::decompositions
