// See body.h.
#include "import/onnx/body.h"

#include <algorithm>

#include "base/error.h"
#include "graph/interpret.h"
#include "import/onnx/call.h"

namespace tenon::onnx {

using graph::Graph;
using graph::Tensor;

graph::Subgraph BodyBuilder::finish(const std::vector<Value>& outputs) {
  std::vector<graph::Output> named;
  for (const Value& value : outputs) named.push_back({fmt::format("out{}", named.size()), value});
  graph_.set_outputs(std::move(named));
  return graph::Subgraph(graph_);
}

bool is_visible(const Graph& around, const Dim& extent) {
  return std::ranges::all_of(extent.symbols(), [&](const Symbol& symbol) {
    return around.symbols().contains(symbol.name());
  });
}

Dim fresh_extent(Graph& around, const std::string& stem) {
  return around.fresh_symbol(stem, {0, kDimInf});
}

Value true_scalar(Graph& g) {
  const std::byte one{1};
  return g.constant({{}, DType::Bool}, {std::span(&one, 1), nullptr});
}

Value scalar_of(Graph& g, Value value, DType dtype, std::string_view what) {
  if (value.dtype() != dtype || prove_equal(value.shape().elements(), 1) == Proof::No) {
    throw user_error("{} must be one {}, not {}", what, to_string(dtype), value.type().to_string());
  }
  return value.shape().rank() == 0 ? value : g.reshape(value, {});
}

namespace {

// The value of a node whose leaves are all constants; nullopt for others, or where there are many.
std::optional<Tensor> folded(Value value, int& budget) {
  if (--budget < 0 || !value.shape().is_static()) return {};
  Tensor tensor{value.dtype(), {}, {}};
  for (const Dim& extent : value.shape()) tensor.shape.push_back(extent.const_value());
  if (value.op() == Op::Constant) {
    tensor.bytes.assign(value.node->bytes().begin(), value.node->bytes().end());
    return tensor;
  }
  if (graph::has(value.op(), graph::kLeaf)) return {};
  std::vector<Tensor> operands;
  for (const Value& operand : value.node->operands()) {
    std::optional<Tensor> known = folded(operand, budget);
    if (!known) return {};
    operands.push_back(*std::move(known));
  }
  std::vector<const Tensor*> pointers;
  for (const Tensor& operand : operands) pointers.push_back(&operand);
  return evaluate(*value.node, pointers, [](const Symbol&) { return std::nullopt; })
      .at(static_cast<size_t>(value.result));
}

}  // namespace

std::optional<bool> known_condition(Value condition) {
  if (const auto elements = shape_value(condition); elements && elements->size() == 1) {
    if ((*elements)[0].is_const()) return (*elements)[0].const_value() != 0;
  }
  try {
    int budget = 64;
    const std::optional<Tensor> value = folded(condition, budget);
    if (value && value->bytes.size() == 1) return value->bytes[0] != std::byte{0};
  } catch (const Error&) {  // to be reported by the run
  }
  return {};
}

namespace {

// The types of carried values inside the body, and the body written with them.
class LoopBuilder {
 public:
  LoopBuilder(Scope& scope, const LoopSource& source, const Iteration& iteration)
      : g_(scope.frame().g), scope_(scope), source_(source), iteration_(iteration) {
    for (const Value& value : source.carried) {
      types_.push_back(value.type());
      changes_.emplace_back(static_cast<size_t>(value.shape().rank()));
    }
  }

  Results build() {
    while (!write()) {
    }
    std::vector<Value> operands{source_.trips, source_.condition};
    operands.insert(operands.end(), source_.carried.begin(), source_.carried.end());
    operands.insert(operands.end(), captures_.begin(), captures_.end());
    const auto carried = static_cast<int64_t>(types_.size());
    std::vector<Dim> extents = result_extents();
    return g_.apply_all(Op::Loop, std::move(operands),
                        {{"body", body_}, {"carried", carried}, {"extents", std::move(extents)}});
  }

 private:
  // False where the outputs show that more extents change: to be written again.
  bool write() {
    BodyBuilder body(scope_, source_.label);
    const Value number = body.frame().input({{}, DType::I64});
    const Value condition = body.frame().input({{}, DType::Bool});
    std::vector<Value> carried;
    for (size_t i = 0; i < types_.size(); ++i) {
      carried.push_back(body.frame().input(type_inside(body.g(), i)));
    }
    const std::vector<Value> outputs = iteration_(body, number, condition, carried);
    if (outputs.size() < 1 + types_.size()) {
      throw user_error("its body gives {} values, fewer than the condition and {} carried ones",
                       outputs.size(), types_.size());
    }
    if (find_changes(outputs)) return false;
    const std::optional<bool> again = known_condition(outputs[0]);
    goes_on_ = outputs[0] == condition || (again && *again);
    outputs_.clear();
    for (const Value& output : outputs) outputs_.push_back(output.type());
    body_ = body.finish(outputs);
    captures_ = body.frame().captures();
    return true;
  }

  TensorType type_inside(Graph& body, size_t i) const {
    std::vector<Dim> dims = types_[i].shape.dims();
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (changes_[i][axis]) dims[axis] = body.fresh_symbol("carried", {0, kDimInf});
    }
    return {Shape(std::move(dims)), types_[i].dtype};
  }

  bool find_changes(const std::vector<Value>& outputs) {
    bool found = false;
    for (size_t i = 0; i < types_.size(); ++i) {
      const TensorType &before = types_[i], &after = outputs[1 + i].type();
      if (before.dtype != after.dtype) {
        throw user_error("carried value {} is {} before an iteration, {} after it", i,
                         before.to_string(), after.to_string());
      }
      if (before.shape.rank() != after.shape.rank()) {
        throw unsupported_error(
            "carried value {} changes its rank: {} before an iteration, {} "
            "after it",
            i, before.to_string(), after.to_string());
      }
      for (int axis = 0; axis < before.shape.rank(); ++axis) {
        if (changes_[i][static_cast<size_t>(axis)]) continue;
        if (prove_equal(before.shape[axis], after.shape[axis]) == Proof::Yes) continue;
        changes_[i][static_cast<size_t>(axis)] = found = true;
      }
    }
    return found;
  }

  std::vector<Dim> result_extents() {
    std::vector<Dim> extents;
    for (size_t i = 0; i < types_.size(); ++i) {
      for (int axis = 0; axis < types_[i].shape.rank(); ++axis) {
        const bool changes = changes_[i][static_cast<size_t>(axis)];
        extents.push_back(changes ? fresh_extent(g_, "carried") : types_[i].shape[axis]);
      }
    }
    if (outputs_.size() == 1 + types_.size()) return extents;
    const Dim trips = trip_count();
    for (size_t i = 1 + types_.size(); i < outputs_.size(); ++i) {
      extents.push_back(trips);
      for (const Dim& extent : outputs_[i].shape) {
        extents.push_back(is_visible(g_, extent) ? extent : fresh_extent(g_, "scanned"));
      }
    }
    return extents;
  }

  // A known extent where neither count nor condition is data.
  Dim trip_count() {
    const auto trips = shape_value(source_.trips);
    const std::optional<bool> begins = known_condition(source_.condition);
    constexpr int64_t kMost = int64_t{1} << 40;
    if (trips && goes_on_ && begins && *begins && (*trips)[0].bounds().hi < kMost) {
      return max((*trips)[0], 0);
    }
    return fresh_extent(g_, "trips");
  }

  Graph& g_;
  Scope& scope_;
  const LoopSource& source_;
  const Iteration& iteration_;
  std::vector<TensorType> types_;           // of the carried values, before
  std::vector<std::vector<bool>> changes_;  // which of their extents iterations change
  std::vector<TensorType> outputs_;         // of the body
  graph::Subgraph body_;
  std::vector<Value> captures_;
  bool goes_on_ = false;  // no iteration ends the loop
};

}  // namespace

Results build_loop(Scope& scope, const LoopSource& source, const Iteration& iteration) {
  return LoopBuilder(scope, source, iteration).build();
}

}  // namespace tenon::onnx
