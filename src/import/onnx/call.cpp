// Access to a node's operands and attributes, with the errors a malformed node earns.
#include "import/onnx/call.h"

#include <algorithm>

namespace tenon::onnx {

bool Call::wants(int output) const {
  return output < outputs() && !node_.outputs[static_cast<size_t>(output)].empty();
}

std::string Call::output_name(int i) const {
  return wants(i) ? std::string(node_.outputs[static_cast<size_t>(i)]) : std::string();
}

Value Call::maybe(int i) const { return i < inputs() ? inputs_[static_cast<size_t>(i)] : Value{}; }

Value Call::in(int i) const {
  Value value = maybe(i);
  if (!value) throw user_error("input {} is missing", i);
  return value;
}

void Call::reject_input(int i, std::string_view what) const {
  if (maybe(i)) throw unsupported_error("input {} ({}) is not supported", i, what);
}

void Call::reject_output(int i, std::string_view what) const {
  if (wants(i)) throw unsupported_error("output {} ({}) is not supported", i, what);
}

const AttributeProto* Call::find(std::string_view name) {
  const AttributeProto* found = nullptr;
  for (size_t i = 0; i < node_.attributes.size(); ++i) {
    if (node_.attributes[i].name != name) continue;
    if (found) throw user_error("attribute '{}' is given twice", name);
    read_[i] = true;
    found = &node_.attributes[i];
  }
  return found;
}

namespace {

void expect(const AttributeProto& attribute, AttributeKind kind, std::string_view wanted) {
  if (attribute.kind == kind) return;
  throw user_error("attribute '{}' must be {}", attribute.name, wanted);
}

}  // namespace

int64_t Call::integer(std::string_view name) {
  const AttributeProto* attribute = find(name);
  if (!attribute) throw user_error("attribute '{}' is missing", name);
  expect(*attribute, AttributeKind::Int, "an integer");
  return attribute->i;
}

int64_t Call::integer(std::string_view name, int64_t otherwise) {
  return find(name) ? integer(name) : otherwise;
}

bool Call::flag(std::string_view name, bool otherwise) {
  int64_t value = integer(name, otherwise ? 1 : 0);
  if (value != 0 && value != 1)
    throw user_error("attribute '{}' must be 0 or 1, not {}", name, value);
  return value == 1;
}

double Call::number(std::string_view name, double otherwise) {
  const AttributeProto* attribute = find(name);
  if (!attribute) return otherwise;
  expect(*attribute, AttributeKind::Float, "a float");
  return attribute->f;
}

std::string_view Call::text(std::string_view name, std::string_view otherwise) {
  const AttributeProto* attribute = find(name);
  if (!attribute) return otherwise;
  expect(*attribute, AttributeKind::String, "a string");
  return attribute->s;
}

std::optional<std::vector<int64_t>> Call::integers(std::string_view name) {
  const AttributeProto* attribute = find(name);
  if (!attribute) return std::nullopt;
  expect(*attribute, AttributeKind::Ints, "a list of integers");
  return attribute->ints;
}

std::vector<double> Call::numbers(std::string_view name) {
  const AttributeProto* attribute = find(name);
  if (!attribute) return {};
  expect(*attribute, AttributeKind::Floats, "a list of floats");
  return {attribute->floats.begin(), attribute->floats.end()};
}

void Call::check_all_read() const {
  std::vector<std::string_view> unread;
  for (size_t i = 0; i < read_.size(); ++i) {
    if (!read_[i]) unread.push_back(node_.attributes[i].name);
  }
  if (unread.empty()) return;
  throw unsupported_error("attribute{} '{}' not known for this op", unread.size() > 1 ? "s" : "",
                          fmt::join(unread, "', '"));
}

const GraphProto* Call::maybe_graph(std::string_view name) {
  const AttributeProto* attribute = find(name);
  if (!attribute) return nullptr;
  expect(*attribute, AttributeKind::Graph, "a graph");
  if (!attribute->g) throw user_error("attribute '{}' has no graph", name);
  return attribute->g.get();
}

const GraphProto& Call::graph(std::string_view name) {
  const GraphProto* found = maybe_graph(name);
  if (!found) throw user_error("attribute '{}' is missing", name);
  return *found;
}

Results Call::inline_graph(const GraphProto& graph, const std::vector<Value>& inputs) {
  Scope inner(scope_, scope_.frame(), label_ + "/");
  return inner.import_graph(graph, inputs);
}

std::vector<Dim> Call::dims(Value value, std::string_view what) const {
  if (!is_integer(value.dtype()) || value.shape().rank() > 1) {
    throw user_error("{} must be an integer vector, not {}", what, value.type().to_string());
  }
  std::optional<std::vector<Dim>> known = shape_value(value);
  if (!known) {
    throw unsupported_error("{} ({}) is computed from data, not from shapes", what,
                            value.type().to_string());
  }
  return *std::move(known);
}

std::vector<int64_t> Call::constants(Value value, std::string_view what) const {
  std::vector<int64_t> numbers;
  for (const Dim& dim : dims(value, what)) {
    if (!dim.is_const()) {
      throw unsupported_error("{} must be constant, but is {}", what, dim.to_string());
    }
    numbers.push_back(dim.const_value());
  }
  return numbers;
}

std::optional<std::vector<int64_t>> Call::axes(int i) {
  std::optional<std::vector<int64_t>> attribute = integers("axes");
  if (attribute || !maybe(i)) return attribute;
  return constants(in(i), "axes");
}

int64_t Call::axis_of(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    throw user_error("axis {} is out of range for rank {}", axis, rank);
  }
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> Call::axes_of(std::vector<int64_t> axes, int rank) {
  for (int64_t& axis : axes) axis = axis_of(axis, rank);
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    throw user_error("an axis is given twice in [{}]", fmt::join(axes, ", "));
  }
  return axes;
}

Value Call::leaf(const TensorProto& tensor, const std::string& name) {
  return leaf(scope_.loader().load(tensor), name);
}

Value Call::leaf(LoadedTensor tensor, const std::string& name) {
  return scope_.frame().leaf(std::move(tensor), name);
}

Value Call::shared_leaf(LoadedTensor tensor, const std::string& name) {
  return scope_.frame().shared_leaf(std::move(tensor), name);
}

Value Call::zeros_like_vector(Value vector) {
  return g.expand(g.scalar(vector.dtype(), 0.0), vector.shape().dims());
}

}  // namespace tenon::onnx
