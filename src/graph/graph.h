// Graph: the tensor IR. Named inputs, parameters, constants, ops and outputs. Every builder call
// infers the result type at once and rejects bad ranks, shapes and dtypes there: "[matmul] inner
// extents differ: f32[4, 8] x f32[9, 2]".
//
//   Graph g;
//   Value x = g.input("x", {{sym::batch(), 384}, DType::F32});
//   Value w = g.param("w", {{384, 1536}, DType::F32});
//   g.set_outputs({{"y", g.gelu(g.matmul(x, w))}});
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/flat_map.h"
#include "graph/node.h"
#include "graph/order_memo.h"

namespace tenon::graph {

class Context;  // interns nodes; shared by graphs that share nodes

// Constants are part of a graph's identity; more bytes than this belong in a parameter with initial
// data.
inline constexpr int64_t kConstantLimit = 4096;

struct Output {
  std::string name;
  Value value;
};

enum class Activation : uint8_t { None, Relu, Gelu, GeluTanh, Silu, Tanh, Sigmoid };

struct AttentionOptions {
  int64_t heads = 1;
  int64_t head_dim = 0;
  int64_t kv_heads = 0;  // 0: as many as heads
  double scale = 0;      // 0: 1 / sqrt(head_dim)
  Value mask = {};       // added to the scores; broadcast to [batch, heads, queries, keys]
  bool causal = false;   // query i sees key j where j <= i + keys - queries
  int64_t window = 0;    // of causal: of those it sees the last so many; 0: all
  double softcap = 0;    // c: scores become c * tanh(score / c) before the mask is added; 0: no cap
};

struct RotaryOptions {
  int64_t heads = 1;
  bool interleaved = false;  // pairs are neighbours, else halves of a head
};

// Memory of a state: as large as its extents, but of this capacity along one axis.
struct StateLayout {
  int64_t axis = 0;
  int64_t capacity = 0;
};

class Graph {
 public:
  Graph();  // with a context of its own
  explicit Graph(
      std::shared_ptr<Context> context);  // shares nodes with other graphs of this context
  const std::shared_ptr<Context>& context() const { return context_; }

  // Leaves. A second input or parameter of the same name is an error, so is a constant of more than
  // kConstantLimit bytes. Data without an owner is copied.
  Value input(const std::string& name, TensorType type);
  // An input that stays between runs, and that update changes: see state.h.
  Value state(const std::string& name, TensorType type, const StateLayout& layout);
  Value param(const std::string& name, TensorType type, Data initial = {});
  Value constant(TensorType type, Data data);
  Value scalar(DType dtype, double value);
  Value integers(std::vector<int64_t> values);  // an i64 vector constant
  Value dims(std::vector<Dim> values,
             bool scalar = false);  // i64; a constant where all are constants

  // Any op of the table, with its attributes. The named builders below are short forms of this one.
  std::vector<Value> apply_all(Op op, std::vector<Value> operands, Attributes attributes = {});
  Value apply(Op op, std::vector<Value> operands, Attributes attributes = {});  // of one result

  Value unary(Op op, Value x) { return apply(op, {x}); }
  Value binary(Op op, Value a, Value b) { return apply(op, {a, b}); }
  Value activation(Activation kind, Value x);
  Value add(Value a, Value b) { return binary(Op::Add, a, b); }
  Value sub(Value a, Value b) { return binary(Op::Sub, a, b); }
  Value mul(Value a, Value b) { return binary(Op::Mul, a, b); }
  Value div(Value a, Value b) { return binary(Op::Div, a, b); }
  Value relu(Value x) { return unary(Op::Relu, x); }
  Value gelu(Value x) { return unary(Op::Gelu, x); }
  Value cast(Value x, DType dtype) { return apply(Op::Cast, {x}, {{"dtype", dtype}}); }
  Value matmul(Value a, Value b) { return apply(Op::MatMul, {a, b}); }
  Value reshape(Value x, std::vector<Dim> shape) {
    return apply(Op::Reshape, {x}, {{"shape", std::move(shape)}});
  }
  Value transpose(Value x, std::vector<int64_t> perm) {
    return apply(Op::Transpose, {x}, {{"perm", std::move(perm)}});
  }
  Value expand(Value x, std::vector<Dim> shape) {
    return apply(Op::Expand, {x}, {{"shape", std::move(shape)}});
  }
  // Whole-rank lists. Extents must be what the slice really has: starts + (extents - 1) * steps
  // stays inside.
  Value slice(Value x, std::vector<Dim> starts, std::vector<Dim> extents,
              std::vector<int64_t> steps);
  Value concat(std::vector<Value> parts, int64_t axis);
  std::vector<Value> split(Value x, int64_t axis, std::vector<Dim> extents);
  Value reduce(Op op, Value x, std::vector<int64_t> axes);  // reduced axes stay, with extent 1
  Value gather(Value data, Value indices, int64_t axis) {
    return apply(Op::Gather, {data, indices}, {{"axis", axis}});
  }
  Value softmax(Value x, int64_t axis) { return apply(Op::Softmax, {x}, {{"axis", axis}}); }
  Value layer_norm(Value x, Value scale, Value bias, double epsilon);
  Value rms_norm(Value x, Value scale, double epsilon);
  // activation((x @ w) * row_scale + bias) + residual; w is [K, N], row_scale [rows..., 1]; all but
  // x and w may be absent. Operands are x, w, then bias if attribute "bias" is 1, then residual if
  // "residual" is 1, then row_scale if "row_scale" is 1; attribute "activation" is the op's text or
  // "none".
  Value linear(Value x, Value w, Value bias, Value residual, Activation activation,
               Value row_scale = {});
  // activation((x @ gate) * row_scale) * ((x @ up) * row_scale); row_scale may be absent.
  Value gated_linear(Value x, Value gate, Value up, Activation activation, Value row_scale = {});
  // x [batch, length, heads*head_dim]; cos and sin [length, r/2] or [batch, length, r/2].
  Value rotary(Value x, Value cos, Value sin, const RotaryOptions& options);
  // q [batch, queries, heads*head_dim], k and v [batch, keys, kv_heads*head_dim] -> like q. A row
  // that sees no key, or whose keys are all masked with -inf, gives 0. The options are attributes,
  // the mask is an operand.
  Value attention(Value q, Value k, Value v, const AttentionOptions& options);
  // The state with the value in rows offset .. along its axis, as long as that makes it: with the
  // extent as offset it grows. It takes the state's memory; more than the capacity is an error.
  Value update(Value state, Value value, Dim offset);
  // A function of the user's on the operands. Each application is an op of its own, however equal
  // it is to another.
  std::vector<Value> custom(const CustomFunction& function, std::vector<Value> operands,
                            std::vector<Dim> dims = {});
  // The extents of x as an i64 vector.
  Value shape_of(Value x);

  // Fixes the outputs and their order. None is an error, so is a repeated name. The last updates of
  // states that are not among them come after them.
  void set_outputs(std::vector<Output> outputs);

  const std::vector<Value>& inputs() const { return inputs_; }
  const std::vector<Value>& params() const { return params_; }
  const std::vector<Output>& outputs() const { return outputs_; }
  const Data* param_data(std::string_view name) const;  // null: to be set by the user
  // Every symbol that occurs in the graph, by name. One name with two bounds is an error where the
  // second comes in.
  const std::map<std::string, Symbol>& symbols() const { return symbols_; }
  void declare(const Symbol& symbol);  // a symbol that no shape names yet
  // An empty graph for a body inside of this one: their fresh symbols never have the same name.
  Graph nested() const;
  // A symbol of a new name, for an extent that a step defines when it runs (a count, a shape that
  // is data): its value is what the step's result has.
  Symbol fresh_symbol(const std::string& stem, Bounds bounds);
  const std::vector<Constraint>& constraints() const { return constraints_; }
  void add_constraint(Constraint constraint);  // kept once; provably false is a User error

  // Where a node came from (a layer, an ONNX node); not part of its identity. Nodes built while a
  // current origin is set get it, unless they have one.
  void set_current_origin(std::string origin) { current_origin_ = std::move(origin); }
  void set_origin(const Node* node, std::string origin);
  std::string_view origin(const Node* node) const;

  // Nodes reachable from the outputs, operands before users, and a step that defines a symbol
  // before what names it; custom functions in the order of their tokens. Stable across runs.
  // Iterative.
  std::vector<const Node*> topological() const;

 private:
  friend Graph rebuild(const Graph& graph,
                       const std::function<std::vector<Value>(Graph&, const Node&,
                                                              std::span<const Value>)>& rewrite);

  const Node* keep(Ref<Node> node);
  Value leaf(Op op, const std::string& name, TensorType type, Attributes attributes, Data data);
  Value named_leaf(Op op, const std::string& name, TensorType type, Attributes attributes = {});
  void note_update(Value update);
  void add_state_outputs(std::vector<Output>& outputs) const;
  void check_operands(Op op, std::span<const Value> operands) const;
  void note_symbols(Op op, std::span<const Dim> dims);
  void note_definers(std::span<const Dim> dims, const Node* definer);
  void note_symbols(Op op, const Attributes& attributes);
  void drop_unused_params();
  bool has_steps() const;  // that define symbols
  std::vector<const Node*> find_order() const;
  std::vector<const Node*> order_from(std::span<const Node* const> first) const;

  std::shared_ptr<Context> context_;
  std::vector<Ref<Node>> nodes_;  // what was built or named here, kept alive
  std::vector<Value> inputs_, params_;
  std::vector<Output> outputs_;
  std::unordered_set<std::string> names_;  // of inputs and parameters
  std::map<std::string, Value> updates_;   // of each state the last one that was built here
  std::unordered_map<std::string, Data> param_data_;
  std::map<std::string, Symbol> symbols_;
  // Of each symbol the node that defines it; null: inputs do. A node that is no leaf defines what
  // no input and no node before it names.
  std::unordered_map<std::string, const Node*> definers_;
  std::shared_ptr<std::atomic<int64_t>> fresh_;  // how many fresh symbols, with those of bodies
  std::vector<Constraint> constraints_;
  std::unordered_set<std::string> constraint_keys_;
  std::unordered_map<const Node*, std::string> origins_;
  std::string current_origin_;
  OrderMemo order_;  // of what the graph is now
};

// Who uses what, indexed once: uses of a value in time proportional to their number.
class UseLists {
 public:
  struct Use {
    const Node* user;
    int operand;
  };
  explicit UseLists(const Graph& graph);
  std::span<const Use> uses(Value value) const;
  bool is_output(Value value) const;
  // The only user of the value, null if it has none, several, or is an output.
  const Node* only_user(Value value) const;

 private:
  struct Place {  // of a value's uses among all
    uint32_t first = 0, count = 0, filled = 0;
  };
  FlatMap<Value, Place> places_;
  std::vector<Use> uses_;
  FlatSet<Value> outputs_;
};

// Rebuilds a graph bottom-up: `rewrite(g, node, operands)` gives the replacement of each result of
// `node`, built on the new graph, or an empty list to copy the node as it is. Inputs and parameters
// keep their order (unused inputs too; unused parameters go), outputs their names, nodes their
// origins.
using NodeRewrite =
    std::function<std::vector<Value>(Graph& g, const Node& node, std::span<const Value> operands)>;
Graph rebuild(const Graph& graph, const NodeRewrite& rewrite);

Digest digest(const Graph& graph);  // structure, outputs, inputs in order
void verify(
    const Graph& graph);  // throws Internal: dangling operands, types that do not follow, cycles
std::string print(const Graph& graph);
Graph parse(std::string_view text);  // what print writes; User error with line and column otherwise

}  // namespace tenon::graph
