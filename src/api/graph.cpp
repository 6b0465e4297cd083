// The public Graph: each call is one of the tensor IR's.
#include "tenon/graph.h"

#include <unordered_set>

#include "api/graph_state.h"
#include "base/error.h"
#include "graph/activation.h"
#include "graph/marked_text.h"
#include "types/active_extent.h"

namespace tenon {
namespace {

constexpr std::string_view kBinaries[] = {"add", "sub",   "mul",  "div",        "pow", "min",
                                          "max", "equal", "less", "less_equal", "and", "or"};
constexpr std::string_view kActivations[] = {"none", "relu", "gelu",   "gelu_tanh",
                                             "silu", "tanh", "sigmoid"};

graph::AttributeValue convert(const Attribute& attribute) {
  return std::visit(
      [](const auto& value) -> graph::AttributeValue {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::shared_ptr<const Graph>>) {
          if (!value) throw user_error("a graph given as an attribute is null");
          return graph::Subgraph(GraphState::of(*value).graph);
        } else {
          return value;
        }
      },
      attribute);
}

// A copy of a graph takes the values of both, but not what was declared on one of them later.
void check_leaves(const graph::Graph& graph) {
  std::unordered_set<const graph::Node*> own;
  for (const auto* leaves : {&graph.inputs(), &graph.params()}) {
    for (const graph::Value& leaf : *leaves) own.insert(leaf.node);
  }
  for (const graph::Node* node : graph.topological()) {
    const bool declared = node->op() == graph::Op::Input || node->op() == graph::Op::Param;
    if (declared && !own.contains(node))
      throw user_error("[set_outputs] the {} \"{}\" is another graph's: declare it on this one",
                       graph::info(node->op()).text, node->name());
  }
}

}  // namespace

std::string_view to_string(BinaryKind kind) { return kBinaries[static_cast<int>(kind)]; }
std::string_view to_string(ActivationKind kind) { return kActivations[static_cast<int>(kind)]; }

const TensorType& Value::type() const {
  if (!node_) throw user_error("this Value is no tensor: it was never given one");
  return GraphState::node_of(*this).type();
}

GraphState& GraphState::of(Graph& graph) {
  if (!graph.state_) throw user_error("this Graph was moved from: there is nothing in it");
  return *graph.state_;
}

const GraphState& GraphState::of(const Graph& graph) {
  return of(const_cast<Graph&>(graph));  // nothing is changed by it
}

Graph GraphState::wrap(graph::Graph graph) {
  Graph result;
  result.state_ = std::make_shared<GraphState>(std::move(graph));
  return result;
}

Value GraphState::value(graph::Value from) const {
  Value result;
  result.keeps_ = shared_from_this();
  result.node_ = from.node;
  result.result_ = from.result;
  return result;
}

std::vector<Value> GraphState::values(const std::vector<graph::Value>& from) const {
  std::vector<Value> result;
  for (const graph::Value& each : from) result.push_back(value(each));
  return result;
}

graph::Value GraphState::node_of(const Value& value) { return {value.node_, value.result_}; }

std::vector<graph::Value> GraphState::nodes_of(const std::vector<Value>& values) {
  std::vector<graph::Value> result;
  for (const Value& value : values) result.push_back(node_of(value));
  return result;
}

graph::Attributes GraphState::attributes_of(const Attributes& attributes) {
  graph::Attributes result;
  for (const auto& [name, value] : attributes) result.set(name, convert(value));
  return result;
}

Graph::Graph() : state_(std::make_shared<GraphState>()) {}
Graph::Graph(const Graph& other)
    : state_(std::make_shared<GraphState>(GraphState::of(other).graph)) {
  state_->bucket_axes = GraphState::of(other).bucket_axes;
}
Graph& Graph::operator=(const Graph& other) { return *this = Graph(other); }
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

// The extent of a bucket is the compiler's own symbol.
static void check_symbols(const char* role, const std::string& name, const TensorType& type) {
  if (!is_active(type.shape)) return;
  throw user_error("[{}] \"{}\" {}: the symbol \"{}\" is the compiler's, take another name", role,
                   name, type.to_string(), kActiveExtent);
}

Value Graph::input(const std::string& name, const TensorType& type, const InputOptions& options) {
  GraphState& state = GraphState::of(*this);
  check_symbols("input", name, type);
  if (options.bucket_axis == -1) return state.value(state.graph.input(name, type));
  graph::Graph with = state.graph;
  const graph::Value input = with.input(name, type);
  check_bucket_axis(input, options.bucket_axis);
  state.graph = std::move(with);
  state.bucket_axes[name] = options.bucket_axis;
  return state.value(input);
}

Value Graph::state(const std::string& name, const TensorType& type, const StateOptions& options) {
  GraphState& state = GraphState::of(*this);
  check_symbols("state", name, type);
  return state.value(state.graph.state(name, type, {options.axis, options.capacity}));
}

Value Graph::update(const Value& state, const Value& value, const Dim& offset) {
  return op1("update", {state, value}, {{"offset", std::vector<Dim>{offset}}});
}

Value Graph::param(const std::string& name, const TensorType& type) {
  GraphState& state = GraphState::of(*this);
  return state.value(state.graph.param(name, type));
}

Value Graph::param(const std::string& name, const TensorType& type,
                   std::span<const std::byte> data) {
  GraphState& state = GraphState::of(*this);
  return state.value(state.graph.param(name, type, {data, nullptr}));
}

Value Graph::constant(const TensorType& type, std::span<const std::byte> data) {
  GraphState& state = GraphState::of(*this);
  return state.value(state.graph.constant(type, {data, nullptr}));
}

Value Graph::scalar(DType dtype, double value) {
  GraphState& state = GraphState::of(*this);
  return state.value(state.graph.scalar(dtype, value));
}

Value Graph::integers(const std::vector<int64_t>& values) {
  GraphState& state = GraphState::of(*this);
  return state.value(state.graph.integers(values));
}

Value Graph::dims(const std::vector<Dim>& values) {
  GraphState& state = GraphState::of(*this);
  return state.value(state.graph.dims(values));
}

std::vector<Value> Graph::op(std::string_view name, const std::vector<Value>& operands,
                             const Attributes& attributes) {
  GraphState& state = GraphState::of(*this);
  const auto op = graph::parse_op(name);
  if (!op) throw user_error("there is no op \"{}\"; docs/ops.md lists them", name);
  return state.values(state.graph.apply_all(*op, GraphState::nodes_of(operands),
                                            GraphState::attributes_of(attributes)));
}

Value Graph::op1(std::string_view name, const std::vector<Value>& operands,
                 const Attributes& attributes, const std::optional<TensorType>& declared) {
  const std::vector<Value> results = op(name, operands, attributes);
  if (results.size() != 1)
    throw user_error("[{}] it has {} results: use op()", name, results.size());
  if (declared && results[0].type() != *declared)
    throw user_error("[{}] the result is {}, but {} is declared", name,
                     results[0].type().to_string(), declared->to_string());
  return results[0];
}

Value Graph::binary(BinaryKind kind, const Value& a, const Value& b) {
  return op1(to_string(kind), {a, b});
}

Value Graph::activation(ActivationKind kind, const Value& x) {
  return kind == ActivationKind::None ? x : op1(to_string(kind), {x});
}

Value Graph::reshape(const Value& x, const Shape& shape) {
  return op1("reshape", {x}, {{"shape", shape.dims()}});
}

Value Graph::transpose(const Value& x, const std::vector<int64_t>& perm) {
  return op1("transpose", {x}, {{"perm", perm}});
}

Value Graph::expand(const Value& x, const Shape& shape) {
  return op1("expand", {x}, {{"shape", shape.dims()}});
}

Value Graph::slice(const Value& x, const std::vector<Dim>& starts, const std::vector<Dim>& extents,
                   const std::vector<int64_t>& steps) {
  return op1("slice", {x},
             {{"starts", starts},
              {"extents", extents},
              {"steps", steps.empty() ? std::vector<int64_t>(starts.size(), 1) : steps}});
}

Value Graph::concat(const std::vector<Value>& parts, int64_t axis) {
  return op1("concat", parts, {{"axis", axis}});
}

std::vector<Value> Graph::split(const Value& x, int64_t axis, const std::vector<Dim>& extents) {
  return op("split", {x}, {{"axis", axis}, {"extents", extents}});
}

Value Graph::gather(const Value& data, const Value& indices, int64_t axis) {
  return op1("gather", {data, indices}, {{"axis", axis}});
}

Value Graph::reduce_sum(const Value& x, const std::vector<int64_t>& axes) {
  return op1("reduce_sum", {x}, {{"axes", axes}});
}
Value Graph::reduce_mean(const Value& x, const std::vector<int64_t>& axes) {
  return op1("reduce_mean", {x}, {{"axes", axes}});
}
Value Graph::reduce_max(const Value& x, const std::vector<int64_t>& axes) {
  return op1("reduce_max", {x}, {{"axes", axes}});
}
Value Graph::reduce_min(const Value& x, const std::vector<int64_t>& axes) {
  return op1("reduce_min", {x}, {{"axes", axes}});
}

Value Graph::softmax(const Value& x, int64_t axis) {
  return op1("softmax", {x}, {{"axis", axis < 0 ? axis + x.shape().rank() : axis}});
}

Value Graph::layer_norm(const Value& x, const Value& scale, const Value& bias, double epsilon) {
  return op1("layer_norm", {x, scale, bias}, {{"epsilon", epsilon}});
}

Value Graph::rms_norm(const Value& x, const Value& scale, double epsilon) {
  return op1("rms_norm", {x, scale}, {{"epsilon", epsilon}});
}

Value Graph::linear(const Value& x, const Value& w, const Value& bias, const Value& residual,
                    ActivationKind activation, const Value& row_scale) {
  GraphState& state = GraphState::of(*this);
  return state.value(state.graph.linear(GraphState::node_of(x), GraphState::node_of(w),
                                        GraphState::node_of(bias), GraphState::node_of(residual),
                                        *graph::parse_activation(to_string(activation)),
                                        GraphState::node_of(row_scale)));
}

Value Graph::gated_linear(const Value& x, const Value& gate, const Value& up,
                          ActivationKind activation, const Value& row_scale) {
  GraphState& state = GraphState::of(*this);
  return state.value(state.graph.gated_linear(
      GraphState::node_of(x), GraphState::node_of(gate), GraphState::node_of(up),
      *graph::parse_activation(to_string(activation)), GraphState::node_of(row_scale)));
}

Value Graph::rotary(const Value& x, const Value& cos, const Value& sin,
                    const RotaryOptions& options) {
  GraphState& state = GraphState::of(*this);
  return state.value(state.graph.rotary(GraphState::node_of(x), GraphState::node_of(cos),
                                        GraphState::node_of(sin),
                                        {options.heads, options.interleaved}));
}

Value Graph::attention(const Value& q, const Value& k, const Value& v,
                       const AttentionOptions& options) {
  GraphState& state = GraphState::of(*this);
  const graph::AttentionOptions inner{.heads = options.heads,
                                      .head_dim = options.head_dim,
                                      .kv_heads = options.kv_heads,
                                      .scale = options.scale,
                                      .mask = GraphState::node_of(options.mask),
                                      .causal = options.causal,
                                      .window = options.window,
                                      .softcap = options.softcap};
  return state.value(state.graph.attention(GraphState::node_of(q), GraphState::node_of(k),
                                           GraphState::node_of(v), inner));
}

std::vector<Value> Graph::custom(const CustomFunction& function, const std::vector<Value>& operands,
                                 const std::vector<Dim>& dims) {
  GraphState& state = GraphState::of(*this);
  return state.values(state.graph.custom(function, GraphState::nodes_of(operands), dims));
}

void Graph::set_origin(const std::string& origin) {
  GraphState::of(*this).graph.set_current_origin(origin);
}

void Graph::set_outputs(const std::vector<Output>& outputs) {
  std::vector<graph::Output> inner;
  for (const Output& output : outputs) {
    if (!output.value) throw user_error("[set_outputs] output \"{}\" is no tensor", output.name);
    inner.push_back({output.name, GraphState::node_of(output.value)});
  }
  graph::Graph& graph = GraphState::of(*this).graph;
  graph::Graph with = graph;
  with.set_outputs(std::move(inner));
  check_leaves(with);
  graph = std::move(with);
}

std::string Graph::print() const {
  const GraphState& state = GraphState::of(*this);
  return graph::print(state.graph, state.bucket_axes);
}

Graph Graph::parse(std::string_view text) {
  graph::MarkedGraph read = graph::parse_marked(text);
  Graph result = GraphState::wrap(std::move(read.graph));
  result.state_->bucket_axes = std::move(read.marked);
  return result;
}

}  // namespace tenon
