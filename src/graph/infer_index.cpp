// Inference of ops that move by data: gather, scatter, search, sort. Extents that data decides
// stand in an attribute; what else the operands must be is checked here.
#include <algorithm>

#include "graph/infer.h"

namespace tenon::graph::rules {

namespace {

void check_integers(const Inference& op, int first, int last, int rank) {
  for (int i = first; i <= last; ++i) {
    if (!is_integer(op.operand(i).dtype) || op.operand(i).shape.rank() > rank) {
      throw op.fail(fmt::format("operand {} must be {}", i,
                                rank == 0   ? "an integer"
                                : rank == 1 ? "an integer vector"
                                            : "a tensor of integers"));
    }
  }
}

constexpr int kAnyRank = 64;

void check_word(const Inference& op, std::string_view name,
                std::initializer_list<std::string_view> words) {
  const std::string& given = op.attributes().text(name);
  if (std::ranges::find(words, given) == words.end()) {
    throw op.fail(fmt::format("{} cannot be \"{}\"", name, given));
  }
}

// The extents that the attribute gives, of a result with this rank.
Shape given_shape(Inference& op, int rank) {
  const std::vector<Dim>& shape = op.attributes().dims("shape");
  op.check_extents(shape);
  if (static_cast<int>(shape.size()) != rank) {
    throw op.fail(fmt::format("the shape has {} entries, not {}", shape.size(), rank));
  }
  return Shape(shape);
}

const Dim& given_count(const Inference& op) {
  const std::vector<Dim>& count = op.attributes().dims("count");
  if (count.size() != 1) throw op.fail("count is one extent");
  return count[0];
}

// How many positions stand in a row of `indices`: it decides ranks.
int64_t named_axes(const Inference& op, const TensorType& indices) {
  const int rank = indices.shape.rank();
  if (rank == 0) throw op.fail("the indices need an axis");
  const Dim& last = indices.shape[rank - 1];
  if (!last.is_const()) throw op.unsupported("the last extent of the indices must be constant");
  return last.const_value();
}

}  // namespace

void reshape_to(Inference& op) {
  check_integers(op, 1, 1, 1);
  check_word(op, "mode", {"shape", "exact", "squeeze", "unsqueeze"});
  op.result(given_shape(op, static_cast<int>(op.attributes().dims("shape").size())),
            op.operand(0).dtype);
}

void define(Inference& op) {
  const TensorType& values = op.operand(0);
  const std::vector<Dim>& symbols = op.attributes().dims("symbols");
  if (values.dtype != DType::I64 || values.shape.rank() != 1) throw op.fail("needs an i64 vector");
  op.same(values.shape[0], static_cast<int64_t>(symbols.size()), "the number of symbols");
  for (const Dim& symbol : symbols) {
    if (!symbol.as_symbol()) throw op.fail(symbol.to_string() + " is no symbol");
  }
  op.result(values.shape, values.dtype);
}

void expand_to(Inference& op) {
  check_integers(op, 1, 1, 1);
  op.result(given_shape(op, static_cast<int>(op.attributes().dims("shape").size())),
            op.operand(0).dtype);
}

void slice_to(Inference& op) {
  check_integers(op, 1, 4, 1);
  op.result(given_shape(op, op.operand(0).shape.rank()), op.operand(0).dtype);
}

namespace {

// An axis that grows by its own elements has some.
void check_repeated(Inference& op, const Dim& extent, const Dim& result) {
  constexpr const char* kWhat = "an empty axis has nothing to repeat";
  if (prove_le(1, extent) == Proof::Yes || prove_le(result, extent) == Proof::Yes) return;
  if ((result - extent).is_const()) {
    op.at_most(1, extent, kWhat);
  } else {  // the result is empty too, or the axis is not
    op.at_most(result, result * extent, kWhat);
  }
}

}  // namespace

void pad(Inference& op) {
  const TensorType& x = op.operand(0);
  check_integers(op, 1, 2, 1);
  check_word(op, "mode", {"constant", "reflect", "edge", "wrap"});
  if (op.operand_count() > 3 && op.operand(3).dtype != x.dtype) {
    throw op.fail("the constant has another dtype");
  }
  Shape result = given_shape(op, x.shape.rank());
  if (op.attributes().text("mode") != "constant") {
    for (int i = 0; i < x.shape.rank(); ++i) check_repeated(op, x.shape[i], result[i]);
  }
  op.result(std::move(result), x.dtype);
}

void range(Inference& op) {
  for (int i = 0; i < 3; ++i) {
    if (op.operand(i).shape.rank() != 0 || op.operand(i).dtype != op.operand(0).dtype) {
      throw op.fail("start, limit and delta must be scalars of one dtype");
    }
  }
  op.result(given_shape(op, 1), op.operand(0).dtype);
}

void gather_elements(Inference& op) {
  check_integers(op, 1, 1, kAnyRank);
  if (op.operand(1).shape.rank() != op.operand(0).shape.rank()) throw op.fail("ranks differ");
  op.result(op.operand(1).shape, op.operand(0).dtype);
}

void gather_nd(Inference& op) {
  const TensorType &data = op.operand(0), &indices = op.operand(1);
  check_integers(op, 1, 1, kAnyRank);
  const int64_t named = named_axes(op, indices), batch = op.attributes().integer("batch_dims");
  if (batch < 0 || batch >= indices.shape.rank() || batch + named > data.shape.rank()) {
    throw op.fail(fmt::format("{} positions after {} batch axes", named, batch));
  }
  std::vector<Dim> dims(indices.shape.begin(), indices.shape.end() - 1);
  for (int64_t i = 0; i < batch; ++i) {
    Dim& extent = dims[static_cast<size_t>(i)];
    extent = op.same(extent, data.shape[static_cast<int>(i)], "batch extents");
  }
  dims.insert(dims.end(), data.shape.begin() + batch + named, data.shape.end());
  op.result(Shape(std::move(dims)), data.dtype);
}

void scatter_elements(Inference& op) {
  const TensorType &data = op.operand(0), &indices = op.operand(1), &updates = op.operand(2);
  check_integers(op, 1, 1, kAnyRank);
  check_word(op, "reduction", {"none", "add", "mul", "min", "max"});
  if (updates.dtype != data.dtype) throw op.fail("the updates have another dtype");
  const int rank = data.shape.rank();
  if (indices.shape.rank() != rank || updates.shape.rank() != rank) throw op.fail("ranks differ");
  for (int i = 0; i < rank; ++i) op.same(indices.shape[i], updates.shape[i], "update extents");
  op.result(data.shape, data.dtype);
}

void scatter_nd(Inference& op) {
  const TensorType &data = op.operand(0), &indices = op.operand(1), &updates = op.operand(2);
  check_integers(op, 1, 1, kAnyRank);
  check_word(op, "reduction", {"none", "add", "mul", "min", "max"});
  if (updates.dtype != data.dtype) throw op.fail("the updates have another dtype");
  const int64_t named = named_axes(op, indices);
  if (named > data.shape.rank()) throw op.fail(fmt::format("{} positions", named));
  std::vector<Dim> dims(indices.shape.begin(), indices.shape.end() - 1);
  dims.insert(dims.end(), data.shape.begin() + named, data.shape.end());
  if (updates.shape.rank() != static_cast<int>(dims.size())) throw op.fail("the updates' rank");
  for (int i = 0; i < updates.shape.rank(); ++i) {
    op.same(dims[static_cast<size_t>(i)], updates.shape[i], "update extents");
  }
  op.result(data.shape, data.dtype);
}

void non_zero(Inference& op) {
  op.result(Shape({op.operand(0).shape.rank(), given_count(op)}), DType::I64);
}

void top_k(Inference& op) {
  const TensorType& x = op.operand(0);
  check_integers(op, 1, 1, 1);
  const auto axis = static_cast<size_t>(op.attributes().integer("axis"));
  std::vector<Dim> dims = x.shape.dims();
  op.at_most(given_count(op), dims[axis], "k is more than there are");
  dims[axis] = given_count(op);
  op.check_extents(dims);
  op.result(Shape(dims), x.dtype);
  op.result(Shape(std::move(dims)), DType::I64);
}

void unique(Inference& op) {
  const TensorType& x = op.operand(0);
  const auto axis = static_cast<size_t>(op.attributes().integer("axis"));
  std::vector<Dim> dims = x.shape.dims();
  const Dim whole = dims[axis], count = given_count(op);
  dims[axis] = count;
  op.result(Shape(std::move(dims)), x.dtype);
  op.result({count}, DType::I64);
  op.result({whole}, DType::I64);
  op.result({count}, DType::I64);
}

void non_max_suppression(Inference& op) {
  const TensorType &boxes = op.operand(0), &scores = op.operand(1);
  if (boxes.shape.rank() != 3 || scores.shape.rank() != 3 || !is_float(boxes.dtype) ||
      !is_float(scores.dtype)) {
    throw op.fail("boxes and scores have three axes");
  }
  op.same(boxes.shape[0], scores.shape[0], "batch extents");
  op.same(boxes.shape[1], scores.shape[2], "counts of boxes");
  op.same(boxes.shape[2], 4, "numbers of a box");
  check_integers(op, 2, 2, 1);
  for (int i = 3; i < 5; ++i) {
    if (!is_float(op.operand(i).dtype) || !op.operand(i).shape.elements().is_const(1)) {
      throw op.fail("a threshold must be one float");
    }
  }
  op.result(Shape({given_count(op), 3}), DType::I64);
}

void count_grams(Inference& op) {
  const TensorType& x = op.operand(0);
  const std::vector<int64_t>&lengths = op.attributes().integers("lengths"),
        &places = op.attributes().integers("places");
  const int64_t size = op.attributes().integer("size");
  const auto pool = static_cast<int64_t>(op.attributes().integers("pool").size());
  check_integers(op, 0, 0, 2);
  if (x.shape.rank() == 0) throw op.fail("it needs an axis");
  if (op.attributes().integer("skips") < 0) throw op.fail("skips is negative");
  int64_t used = 0;
  for (const int64_t length : lengths) {
    if (length < 1 || length > pool - used) throw op.fail("the lengths do not fit the pool");
    used += length;
  }
  const auto inside = [&](int64_t place) { return place >= 0 && place < size; };
  if (lengths.size() != places.size() || !std::ranges::all_of(places, inside)) {
    throw op.fail("each gram needs a place in the result");
  }
  std::vector<Dim> dims = x.shape.dims();
  dims.back() = size;
  op.check_extents(dims);
  op.result(Shape(std::move(dims)), DType::F32);
}

}  // namespace tenon::graph::rules
