// Branches and loops: bodies run by the interpreter, as often as the data says.
#include "base/error.h"
#include "graph/evaluate.h"

namespace tenon::graph::evaluators {
namespace {

constexpr int64_t kTripLimit = int64_t{1} << 24;

bool is_true(const Tensor& scalar) { return to_integers(scalar)[0] != 0; }

// What the node's type says of the extents must be so: the importer or the text claimed it.
void check_extents(const Evaluation& e, const Results& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    const TensorType& type = e.node.types()[i];
    for (int axis = 0; axis < type.shape.rank(); ++axis) {
      const std::optional<int64_t> claimed = type.shape[axis].evaluate(e.values);
      const int64_t actual = results[i].shape[static_cast<size_t>(axis)];
      if (!claimed || *claimed == actual) continue;
      throw user_error("[{}] result {} has extent {} on axis {}, where {} is expected",
                       info(e.node.op()).text, i, actual, axis, type.to_string());
    }
  }
}

// Equal tensors, one after the other, along a new first axis.
class Stack {
 public:
  explicit Stack(const TensorType& element) : element_(element) {}

  void push(const Tensor& tensor) {
    if (count_ > 0 && tensor.shape != shape_) {
      throw user_error("[loop] a scanned output has the shape [{}] after [{}]",
                       fmt::join(tensor.shape, ", "), fmt::join(shape_, ", "));
    }
    shape_ = tensor.shape;
    bytes_.insert(bytes_.end(), tensor.bytes.begin(), tensor.bytes.end());
    ++count_;
  }

  // Of nothing, extents that only the body knows are 0.
  Tensor take(const SymbolValues& values) {
    if (count_ == 0) {
      for (const Dim& extent : element_.shape) {
        shape_.push_back(extent.evaluate(values).value_or(0));
      }
    }
    shape_.insert(shape_.begin(), count_);
    return {element_.dtype, std::move(shape_), std::move(bytes_)};
  }

 private:
  const TensorType& element_;
  int64_t count_ = 0;
  Extents shape_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Results branch(const Evaluation& e) {
  const Graph& then = e.attributes().graph("then");
  const bool taken = is_true(e.operand(0));
  const Graph& body = taken ? then : e.attributes().graph("else");
  const size_t first = taken ? 1 : 1 + then.inputs().size();
  Results results = interpret_body(body, e.operands.subspan(first, body.inputs().size()), e.values);
  check_extents(e, results);
  return results;
}

Results loop(const Evaluation& e) {
  const Graph& body = e.attributes().graph("body");
  const auto carried = static_cast<size_t>(e.attributes().integer("carried"));
  const int64_t trips = to_integers(e.operand(0))[0];
  Tensor condition = e.operand(1);
  Results state;
  for (size_t i = 0; i < carried; ++i) state.push_back(*e.operands[2 + i]);
  std::vector<Stack> scans;
  for (size_t i = 1 + carried; i < body.outputs().size(); ++i) {
    scans.emplace_back(body.outputs()[i].value.type());
  }
  for (int64_t trip = 0; trip < trips && is_true(condition); ++trip) {
    if (trip == kTripLimit) throw user_error("[loop] it runs more than {} times", kTripLimit);
    const Tensor number = from_integers(DType::I64, {}, std::vector<int64_t>{trip});
    std::vector<const Tensor*> inputs(e.operands.begin(), e.operands.end());
    inputs[0] = &number;
    inputs[1] = &condition;
    for (size_t i = 0; i < carried; ++i) inputs[2 + i] = &state[i];
    Results outputs = interpret_body(body, inputs, e.values);
    condition = std::move(outputs[0]);
    for (size_t i = 0; i < carried; ++i) state[i] = std::move(outputs[1 + i]);
    for (size_t i = 0; i < scans.size(); ++i) scans[i].push(outputs[1 + carried + i]);
  }
  for (Stack& scan : scans) state.push_back(scan.take(e.values));
  check_extents(e, state);
  return state;
}

}  // namespace tenon::graph::evaluators
