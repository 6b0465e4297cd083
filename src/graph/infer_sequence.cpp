// Inference of recurrent layers, signal ops and losses.
#include <algorithm>

#include "graph/gate_activation.h"
#include "graph/infer_checks.h"

namespace tenon::graph::rules {

namespace {

struct Cell {
  std::string_view name;
  int64_t gates, functions;
  int operands;
};
constexpr Cell kCells[] = {{"rnn", 1, 1, 6}, {"gru", 3, 2, 6}, {"lstm", 4, 3, 8}};

void check_activations(const Inference& op, size_t count) {
  std::string_view names = op.attributes().text("activations");
  size_t found = 0;
  while (!names.empty()) {
    const size_t end = std::min(names.find(','), names.size());
    if (find_gate_activation(names.substr(0, end)) == nullptr) {
      throw op.fail(fmt::format("activation \"{}\" is unknown", names.substr(0, end)));
    }
    names.remove_prefix(std::min(end + 1, names.size()));
    ++found;
  }
  if (found != count || op.attributes().numbers("alpha").size() != count ||
      op.attributes().numbers("beta").size() != count) {
    throw op.fail(fmt::format("needs {} activations with alpha and beta", count));
  }
}

void check_shape(Inference& op, int operand, const Shape& expected) {
  const Shape& shape = op.operand(operand).shape;
  if (shape.rank() != expected.rank()) {
    throw op.fail(fmt::format("operand {} needs {} axes", operand, expected.rank()));
  }
  for (int i = 0; i < shape.rank(); ++i) {
    op.same(shape[i], expected[i], fmt::format("extents {} of operand {}", i, operand));
  }
}

void check_float_dtype(const Inference& op, DType dtype) {
  if (dtype == DType::Bool) throw op.fail("has no meaning for bool");
}

}  // namespace

void recurrent(Inference& op) {
  const auto* cell = std::ranges::find(kCells, op.attributes().text("cell"), &Cell::name);
  if (cell == std::end(kCells)) throw op.fail("the cell is rnn, gru or lstm");
  if (op.operand_count() != cell->operands) {
    throw op.fail(fmt::format("{} has {} operands", cell->name, cell->operands));
  }
  check_text(op, "direction", {"forward", "reverse", "bidirectional"});
  const int64_t directions = op.attributes().text("direction") == "bidirectional" ? 2 : 1;
  check_activations(op, static_cast<size_t>(directions * cell->functions));
  if (op.attributes().number("clip", 0) < 0) throw op.fail("clip is negative");
  check_float(op, 0);
  check_dtypes(op, 4);
  check_integer_operand(op, 4, 1);
  const Shape &x = op.operand(0).shape, &r = op.operand(2).shape;
  if (x.rank() != 3 || r.rank() != 3) throw op.fail("x and weights need three axes");
  const Dim hidden = r[2], rows = hidden * cell->gates;
  const Shape state{directions, x[1], hidden};
  check_shape(op, 1, {directions, rows, x[2]});
  check_shape(op, 2, {directions, rows, hidden});
  check_shape(op, 3, {directions, rows * 2});
  check_shape(op, 4, {x[1]});
  check_shape(op, 5, state);
  const DType dtype = op.operand(0).dtype;
  op.result({x[0], directions, x[1], hidden}, dtype);
  op.result(state, dtype);
  if (cell->operands < 8) return;
  check_shape(op, 6, state);
  check_shape(op, 7, {directions, hidden * 3});
  op.result(state, dtype);
}

void dft(Inference& op) {
  check_float(op, 0);
  const int rank = op.operand(0).shape.rank();
  if (rank < 2) throw op.fail("a signal has an axis, and one for real and imaginary parts");
  check_integer_operand(op, 1, 1);
  check_integer_operand(op, 2, 1);
  checked_integer(op, "inverse", kFlag);
  checked_integer(op, "onesided", kFlag);
  op.result(shape_attribute(op, rank), op.operand(0).dtype);
}

void frames(Inference& op) {
  if (op.operand(0).shape.rank() != 3) throw op.fail("a signal is [batch, time, parts]");
  check_integer_operand(op, 1, 1);
  check_integer_operand(op, 2, 1);
  op.result(shape_attribute(op, 4), op.operand(0).dtype);
}

void cosine_window(Inference& op) {
  check_integer_operand(op, 0, 1);
  checked_integer(op, "periodic", kFlag);
  check_float_dtype(op, op.attributes().dtype("dtype"));
  op.result(shape_attribute(op, 1), op.attributes().dtype("dtype"));
}

void mel_weights(Inference& op) {
  for (int i = 0; i < 3; ++i) check_integer_operand(op, i, 1);
  for (int i = 3; i < 5; ++i) {
    check_float(op, i);
    op.same(op.operand(i).shape.elements(), 1, "a frequency's elements");
  }
  check_float_dtype(op, op.attributes().dtype("dtype"));
  op.result(shape_attribute(op, 2), op.attributes().dtype("dtype"));
}

void nll_loss(Inference& op) {
  check_float(op, 0);
  const Shape &x = op.operand(0).shape, &target = op.operand(1).shape;
  if (x.rank() < 2 || target.rank() != x.rank() - 1) {
    throw op.fail("targets have the axes of the scores but for the classes");
  }
  check_integer_operand(op, 1, target.rank());
  if (op.operand(2).dtype != op.operand(0).dtype) throw op.fail("weights have another dtype");
  check_shape(op, 2, {x[1]});
  for (int i = 0; i < target.rank(); ++i) {
    op.same(target[i], x[i == 0 ? 0 : i + 1], "extents of targets and scores");
  }
  op.result(target, op.operand(0).dtype);
  op.result(target, op.operand(0).dtype);
}

}  // namespace tenon::graph::rules
