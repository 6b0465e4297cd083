// Movement whose targets are values of the graph: where their elements are known as Dims the op
// with known extents is built, else the one that reads them when it runs, with a fresh symbol for
// each extent that only data decides. Importers use these for every shape, axis or count that a
// model may compute.
#pragma once

#include "graph/iota.h"
#include "import/onnx/call.h"

namespace tenon::onnx {

// The length of an integer vector.
Dim vector_extent(Value vector, std::string_view what);
// Where it decides ranks, so that it must be known.
int64_t vector_length(Value vector, std::string_view what);
// An integer vector that the op wants to have `length` elements; a symbolic length is checked when
// it has a value.
Value of_length(graph::Graph& g, Value vector, int64_t length, std::string_view what);
std::vector<Dim> fresh_dims(graph::Graph& g, const std::string& stem, int64_t count);

// The elements as constants, where all are.
std::optional<std::vector<int64_t>> known_integers(Value value);
// One element as a Dim; a fresh symbol where it is data.
Dim known_or_fresh(graph::Graph& g, Value value, const std::string& stem, const Dim& most);

Value reshape_to(graph::Graph& g, Value x, Value shape, bool exact);  // exact: 0 means 0
Value expand_to(graph::Graph& g, Value x, Value shape);               // both ways, as Expand says
// One number for each axis in `axes`; axes and steps may be null.
Value slice_to(graph::Graph& g, Value x, Value starts, Value ends, Value axes, Value steps);
// Before all axes, then after all axes; axes and fill may be null.
Value pad_to(graph::Graph& g, Value x, const std::string& mode, Value pads, Value axes, Value fill);
Value tile_by(graph::Graph& g, Value x, Value repeats);

// start, start + delta, ... before limit; scalars of one dtype.
Value range_to(graph::Graph& g, Value start, Value limit, Value delta);
Value non_zero(graph::Graph& g, Value x);  // i64[rank, count]

// `vector` along one axis of a tensor of this rank, extent 1 on all others.
Value along_axis(graph::Graph& g, Value vector, int64_t axis, int rank);
Value to_scalar(graph::Graph& g, Value value, std::string_view what);  // of one element

}  // namespace tenon::onnx
