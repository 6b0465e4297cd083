// Building a graph: leaves, ops through the inference rules, constraints, origins and outputs. All
// that can be wrong with a call is found here, before a node exists.
#include "graph/graph.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "graph/attribute_schema.h"
#include "graph/constraint_kind.h"
#include "graph/context.h"
#include "graph/infer.h"
#include "graph/state.h"

namespace tenon::graph {

namespace {

Data copied(std::span<const std::byte> bytes) {
  auto owned = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  return {std::span<const std::byte>(*owned), owned};
}

void check_type(Op op, std::string_view name, const TensorType& type) {
  for (const Dim& extent : type.shape) {
    if (extent.bounds().hi < 0) {
      throw user_error("[{}] \"{}\" has a negative extent: {}", info(op).text, name,
                       type.to_string());
    }
  }
}

void check_data(Op op, std::string_view name, const TensorType& type, const Data& data) {
  if (!type.shape.is_static()) {
    throw user_error("[{}] \"{}\" has data, so its extents must be constants: {}", info(op).text,
                     name, type.to_string());
  }
  if (!type.bytes().is_const(static_cast<int64_t>(data.bytes.size()))) {
    throw user_error("[{}] \"{}\" has {} bytes of data, which do not fill {}", info(op).text, name,
                     data.bytes.size(), type.to_string());
  }
}

}  // namespace

Graph::Graph() : Graph(std::make_shared<Context>()) {}

Graph::Graph(std::shared_ptr<Context> context)
    : context_(std::move(context)), fresh_(std::make_shared<std::atomic<int64_t>>(0)) {}

Graph Graph::nested() const {
  Graph body;
  body.fresh_ = fresh_;
  return body;
}

const Node* Graph::keep(Ref<Node> node) {
  if (!current_origin_.empty()) origins_.emplace(node.get(), current_origin_);
  return nodes_.emplace_back(std::move(node)).get();
}

Value Graph::leaf(Op op, const std::string& name, TensorType type, Attributes attributes,
                  Data data) {
  note_symbols(op, type.shape.dims());
  note_symbols(op, attributes);
  return {keep(context_->intern(
              {op, {}, std::move(attributes), {std::move(type)}, name, std::move(data)})),
          0};
}

Value Graph::named_leaf(Op op, const std::string& name, TensorType type, Attributes attributes) {
  if (name.empty()) throw user_error("[{}] needs a name", info(op).text);
  check_type(op, name, type);
  if (names_.contains(name)) {
    throw user_error("[{}] the name \"{}\" is taken by an input or parameter", info(op).text, name);
  }
  const Value value = leaf(op, name, std::move(type), std::move(attributes), {});
  note_definers(value.shape().dims(), nullptr);
  names_.insert(name);
  return value;
}

Value Graph::input(const std::string& name, TensorType type) {
  return inputs_.emplace_back(named_leaf(Op::Input, name, std::move(type)));
}

Value Graph::param(const std::string& name, TensorType type, Data initial) {
  const bool has_data = initial.bytes.data() != nullptr || initial.owner != nullptr;
  if (has_data) check_data(Op::Param, name, type, initial);
  const Value value = params_.emplace_back(named_leaf(Op::Param, name, std::move(type)));
  if (has_data) {
    param_data_.emplace(name, initial.owner ? std::move(initial) : copied(initial.bytes));
  }
  return value;
}

Value Graph::constant(TensorType type, Data data) {
  check_type(Op::Constant, "", type);
  check_data(Op::Constant, "", type, data);
  if (static_cast<int64_t>(data.bytes.size()) > kConstantLimit) {
    throw user_error("[constant] {} bytes are more than {}: make it a parameter with initial data",
                     data.bytes.size(), kConstantLimit);
  }
  return leaf(Op::Constant, "", std::move(type), {}, copied(data.bytes));
}

Value Graph::scalar(DType dtype, double value) {
  std::byte element[8] = {};
  store_from_f64(dtype, element, value);
  return constant({{}, dtype}, {std::span(element, static_cast<size_t>(size_of(dtype))), nullptr});
}

Value Graph::integers(std::vector<int64_t> values) {
  const auto count = static_cast<int64_t>(values.size());
  return constant({{count}, DType::I64}, {std::as_bytes(std::span(values)), nullptr});
}

Value Graph::dims(std::vector<Dim> values, bool scalar) {
  if (scalar && values.size() != 1) throw user_error("[dims] a scalar has one value");
  Shape shape = scalar ? Shape{} : Shape{static_cast<int64_t>(values.size())};
  bool all_constant = values.size() * sizeof(int64_t) <= kConstantLimit;
  for (const Dim& value : values) all_constant = all_constant && value.is_const();
  if (all_constant) {
    std::vector<int64_t> integers;
    integers.reserve(values.size());
    for (const Dim& value : values) integers.push_back(value.const_value());
    return constant({std::move(shape), DType::I64}, {std::as_bytes(std::span(integers)), nullptr});
  }
  Attributes attributes{{"scalar", int64_t{scalar}}, {"values", std::move(values)}};
  return leaf(Op::Dims, "", {std::move(shape), DType::I64}, std::move(attributes), {});
}

void Graph::check_operands(Op op, std::span<const Value> operands) const {
  const OpInfo& row = info(op);
  const auto count = static_cast<int>(operands.size());
  if (has(op, kLeaf)) throw user_error("[{}] is a leaf and has its own builder", row.text);
  if (count < row.least || (row.most >= 0 && count > row.most)) {
    throw user_error("[{}] does not take {} operands", row.text, count);
  }
  for (const Value& operand : operands) {
    if (!operand) throw user_error("[{}] an operand is empty", row.text);
    if (!context_->owns(operand.node)) {
      throw user_error("[{}] an operand belongs to another context", row.text);
    }
    if (operand.result < 0 || operand.result >= operand.node->result_count()) {
      throw user_error("[{}] an operand names a result that its node does not have", row.text);
    }
  }
}

std::vector<Value> Graph::apply_all(Op op, std::vector<Value> operands, Attributes attributes) {
  check_operands(op, operands);
  canonicalize(op, operands, attributes);
  note_symbols(op, attributes);
  Inference inference(op, operands, attributes);
  infer(inference);
  for (const Constraint& constraint : inference.constraints()) add_constraint(constraint);
  std::vector<TensorType> types = inference.results();
  const Node* node = keep(
      context_->intern({op, std::move(operands), std::move(attributes), std::move(types), "", {}}));
  for (const auto& [name, value] : node->attributes().items()) {
    if (const auto* dims = std::get_if<std::vector<Dim>>(&value)) note_definers(*dims, node);
  }
  if (op == Op::Update) note_update({node});
  std::vector<Value> results;
  results.reserve(node->types().size());
  for (int i = 0; i < node->result_count(); ++i) results.push_back({node, i});
  return results;
}

Value Graph::apply(Op op, std::vector<Value> operands, Attributes attributes) {
  const std::vector<Value> results = apply_all(op, std::move(operands), std::move(attributes));
  if (results.size() != 1) {
    throw user_error("[{}] has {} results, where one is expected", info(op).text, results.size());
  }
  return results[0];
}

void Graph::note_symbols(Op op, std::span<const Dim> dims) {
  for (const Dim& dim : dims) {
    if (dim.is_const()) continue;
    for (const Symbol& symbol : dim.symbols()) {
      const auto [at, inserted] = symbols_.emplace(symbol.name(), symbol);
      const Bounds known = at->second.bounds(), given = symbol.bounds();
      if (!inserted && known != given) {
        throw user_error("[{}] symbol {} has bounds {}..{} here and {}..{} before", info(op).text,
                         symbol.name(), given.lo, given.hi, known.lo, known.hi);
      }
    }
  }
}

void Graph::note_definers(std::span<const Dim> dims, const Node* definer) {
  order_.reset();
  for (const Dim& dim : dims) {
    if (dim.is_const()) continue;
    for (const Symbol& symbol : dim.symbols()) {
      if (definer == nullptr) {
        definers_.insert_or_assign(symbol.name(), nullptr);
      } else {
        definers_.try_emplace(symbol.name(), definer);
      }
    }
  }
}

// A body's symbols are known outside too: no other symbol there may take their names.
void Graph::note_symbols(Op op, const Attributes& attributes) {
  for (const auto& [name, value] : attributes.items()) {
    if (const auto* dims = std::get_if<std::vector<Dim>>(&value)) note_symbols(op, *dims);
    const auto* body = std::get_if<Subgraph>(&value);
    if (body == nullptr) continue;
    for (const auto& [key, symbol] : (*body)->symbols()) note_symbols(op, std::vector<Dim>{symbol});
  }
}

void Graph::declare(const Symbol& symbol) { note_symbols(Op::Dims, std::vector<Dim>{symbol}); }

Symbol Graph::fresh_symbol(const std::string& stem, Bounds bounds) {
  std::string name;
  while (name.empty() || symbols_.contains(name)) {
    name = fmt::format("{}.{}", stem, fresh_->fetch_add(1));
  }
  const Symbol symbol(name, bounds);
  declare(symbol);
  return symbol;
}

void Graph::add_constraint(Constraint constraint) {
  using enum Constraint::Kind;
  const Dim &a = constraint.left, &b = constraint.right;
  note_symbols(Op::Dims, std::vector<Dim>{a, b});
  Proof proof = constraint.kind == AtMost ? prove_le(a, b) : prove_equal(a, b);
  if (constraint.kind == Broadcastable && proof != Proof::Yes) {
    if (a.is_const(1) || b.is_const(1)) return;
    const bool one = a.bounds().contains(1) || b.bounds().contains(1);
    if (one) proof = Proof::Unknown;
  }
  if (proof == Proof::Yes) return;
  if (proof == Proof::No) throw user_error("{}", needs(constraint));
  const std::string key =
      fmt::format("{} {} {}", static_cast<int>(constraint.kind), a.to_string(), b.to_string());
  if (!constraint_keys_.insert(key).second) return;
  constraints_.push_back(std::move(constraint));
  order_.reset();
}

void Graph::add_state_outputs(std::vector<Output>& outputs) const {
  for (const auto& [name, update] : updates_) {
    const auto found = std::ranges::find(outputs, name, &Output::name);
    if (found == outputs.end()) {
      outputs.push_back({name, update});
    } else if (!is_state_output(*found)) {
      throw user_error("[outputs] \"{}\" is a state: another output needs another name", name);
    }
  }
}

void Graph::set_outputs(std::vector<Output> outputs) {
  add_state_outputs(outputs);
  if (outputs.empty()) throw user_error("[outputs] a graph needs at least one output");
  std::unordered_set<std::string_view> seen;
  for (const Output& output : outputs) {
    if (!output.value) throw user_error("[outputs] \"{}\" is empty", output.name);
    if (!context_->owns(output.value.node)) {
      throw user_error("[outputs] \"{}\" belongs to another context", output.name);
    }
    if (!seen.insert(output.name).second) {
      throw user_error("[outputs] the name \"{}\" is used twice", output.name);
    }
  }
  for (const Output& output : outputs) nodes_.emplace_back(output.value.node);
  outputs_ = std::move(outputs);
  order_.reset();
}

const Data* Graph::param_data(std::string_view name) const {
  const auto found = param_data_.find(std::string(name));
  return found == param_data_.end() ? nullptr : &found->second;
}

void Graph::set_origin(const Node* node, std::string origin) {
  origins_.insert_or_assign(node, std::move(origin));
}

std::string_view Graph::origin(const Node* node) const {
  const auto found = origins_.find(node);
  return found == origins_.end() ? std::string_view() : found->second;
}

}  // namespace tenon::graph
