// Inference of ops with bodies: operands fit the bodies' inputs, bodies agree with each other, and
// results have the bodies' dtypes and ranks. Their extents are an attribute.
#include "graph/graph.h"
#include "graph/infer.h"

namespace tenon::graph::rules {
namespace {

bool is_scalar(const TensorType& type, DType dtype) {
  return type.dtype == dtype && type.shape.rank() == 0;
}

// Inputs `first`.. of the body are the operands from `operand` on. With `loosely`, extents may
// differ: they change while it runs.
void match_inputs(Inference& op, const Graph& body, int first, int operand, int count,
                  bool loosely) {
  for (int i = 0; i < count; ++i) {
    const TensorType& inner =
        body.inputs().at(static_cast<size_t>(first) + static_cast<size_t>(i)).type();
    const TensorType& outer = op.operand(operand + i);
    const bool fits = inner.dtype == outer.dtype && inner.shape.rank() == outer.shape.rank();
    if (!fits) {
      throw op.fail(fmt::format("input {} of a body is {}, but operand {} is {}", first + i,
                                inner.to_string(), operand + i, outer.to_string()));
    }
    for (int axis = 0; !loosely && axis < inner.shape.rank(); ++axis) {
      op.same(inner.shape[axis], outer.shape[axis], "extents inside and outside of a body");
    }
  }
}

void check_body(Inference& op, const Graph& body) {
  if (!body.params().empty()) throw op.fail("a body has no parameters of its own");
}

// Gives the results their extents, in order.
class Extents {
 public:
  explicit Extents(Inference& op) : op_(op), all_(op.attributes().dims("extents")) {
    op.check_extents(all_);
  }
  void result(DType dtype, int rank) {
    if (next_ + static_cast<size_t>(rank) > all_.size()) throw wrong();
    const auto begin = all_.begin() + static_cast<ptrdiff_t>(next_);
    op_.result(Shape(std::vector<Dim>(begin, begin + rank)), dtype);
    next_ += static_cast<size_t>(rank);
  }
  void finish() const {
    if (next_ != all_.size()) throw wrong();
    if (op_.results().empty()) throw op_.fail("it has no results");
  }

 private:
  Error wrong() const {
    return op_.fail(fmt::format("{} extents do not fit the results of its bodies", all_.size()));
  }

  Inference& op_;
  const std::vector<Dim>& all_;
  size_t next_ = 0;
};

}  // namespace

void branch(Inference& op) {
  const Graph &then = op.attributes().graph("then"), &other = op.attributes().graph("else");
  check_body(op, then);
  check_body(op, other);
  if (!is_scalar(op.operand(0), DType::Bool)) throw op.fail("the condition must be bool[]");
  const auto then_inputs = static_cast<int>(then.inputs().size());
  const auto else_inputs = static_cast<int>(other.inputs().size());
  if (op.operand_count() != 1 + then_inputs + else_inputs) {
    throw op.fail(fmt::format("its bodies take {} operands", then_inputs + else_inputs));
  }
  match_inputs(op, then, 0, 1, then_inputs, false);
  match_inputs(op, other, 0, 1 + then_inputs, else_inputs, false);
  if (then.outputs().size() != other.outputs().size()) {
    throw op.fail("its bodies have different numbers of outputs");
  }
  Extents extents(op);
  for (size_t i = 0; i < then.outputs().size(); ++i) {
    const TensorType& a = then.outputs()[i].value.type();
    const TensorType& b = other.outputs()[i].value.type();
    if (a.dtype != b.dtype || a.shape.rank() != b.shape.rank()) {
      throw op.fail(fmt::format("output {} is {} in one body, {} in the other", i, a.to_string(),
                                b.to_string()));
    }
    extents.result(a.dtype, a.shape.rank());
  }
  extents.finish();
}

void loop(Inference& op) {
  const Graph& body = op.attributes().graph("body");
  check_body(op, body);
  const int64_t carried = op.attributes().integer("carried");
  const auto inputs = static_cast<int64_t>(body.inputs().size());
  const auto outputs = static_cast<int64_t>(body.outputs().size());
  if (carried < 0 || inputs < 2 + carried || outputs < 1 + carried) {
    throw op.fail(fmt::format("a body of {} inputs and {} outputs carries no {} values", inputs,
                              outputs, carried));
  }
  if (op.operand_count() != inputs) throw op.fail(fmt::format("its body takes {} inputs", inputs));
  if (!is_scalar(op.operand(0), DType::I64)) throw op.fail("the trip count must be i64[]");
  if (!is_scalar(op.operand(1), DType::Bool)) throw op.fail("the condition must be bool[]");
  if (!is_scalar(body.outputs()[0].value.type(), DType::Bool)) {
    throw op.fail("the first output of its body must be bool[]");
  }
  const auto count = static_cast<int>(carried);
  match_inputs(op, body, 0, 0, 2 + count, true);
  match_inputs(op, body, 2 + count, 2 + count, static_cast<int>(inputs) - 2 - count, false);
  Extents extents(op);
  for (int64_t i = 1; i < outputs; ++i) {
    const TensorType& type = body.outputs()[static_cast<size_t>(i)].value.type();
    if (i > carried) {
      extents.result(type.dtype, type.shape.rank() + 1);
      continue;
    }
    const TensorType& before = body.inputs()[static_cast<size_t>(i + 1)].type();
    if (type.dtype != before.dtype || type.shape.rank() != before.shape.rank()) {
      throw op.fail(fmt::format("carried value {} is {} before an iteration, {} after it", i - 1,
                                before.to_string(), type.to_string()));
    }
    extents.result(type.dtype, type.shape.rank());
  }
  extents.finish();
}

}  // namespace tenon::graph::rules
