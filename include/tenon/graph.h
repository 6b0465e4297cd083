// Graph: a model as named inputs, parameters, constants, ops and outputs.
//
//   tenon::Graph g;
//   tenon::Value x = g.input("x", {{tenon::sym::batch(), 384}, tenon::DType::F32});
//   tenon::Value w = g.param("w", {{384, 1536}, tenon::DType::F32});
//   g.set_outputs({{"y", g.gelu(g.matmul(x, w))}});
//
// Every call infers the type of its result and refuses operands that do not fit, by an Error that
// names the op and shows the shapes: "[matmul] inner extents differ: f32[4, 8] x f32[9, 2]".
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tenon/active_extent.h"
#include "tenon/custom_function.h"
#include "tenon/shape.h"
#include "tenon/tensor.h"

namespace tenon {

class Graph;
struct GraphState;
namespace graph {
class Node;
}

// A tensor of a graph: what ops take and give. Cheap to copy; it keeps what it is made of alive.
class Value {
 public:
  Value() = default;  // no tensor: an operand that is left out
  explicit operator bool() const { return node_ != nullptr; }
  const TensorType& type() const;  // of no tensor: an Error
  const Shape& shape() const { return type().shape; }
  DType dtype() const { return type().dtype; }

 private:
  friend struct GraphState;
  std::shared_ptr<const GraphState> keeps_;
  const graph::Node* node_ = nullptr;
  int result_ = 0;
};

// What an op may be told beside its operands; docs/ops.md says which op takes what.
using Attribute = std::variant<int64_t, double, std::string, DType, std::vector<int64_t>,
                               std::vector<Dim>, std::vector<double>, std::shared_ptr<const Graph>>;
using Attributes = std::map<std::string, Attribute>;

enum class BinaryKind { Add, Sub, Mul, Div, Pow, Min, Max, Equal, Less, LessEqual, And, Or };
enum class ActivationKind { None, Relu, Gelu, GeluTanh, Silu, Tanh, Sigmoid };  // Gelu: by erf
std::string_view to_string(BinaryKind kind);
std::string_view to_string(ActivationKind kind);

struct AttentionOptions {
  int64_t heads = 1;
  int64_t head_dim = 0;
  int64_t kv_heads = 0;  // 0: as many as heads
  Value mask = {};       // added to the scores; broadcast to [batch, heads, queries, keys]
  double scale = 0;      // of the scores; 0: 1 / sqrt(head_dim)
  bool causal = false;   // query i sees key j where j <= i + keys - queries
  int64_t window = 0;    // of causal: of those it sees the last so many; 0: all
  double softcap = 0;    // c: scores become c * tanh(score / c) before the mask is added; 0: no cap
};

struct RotaryOptions {
  int64_t heads = 1;
  bool interleaved = false;  // pairs are neighbours, else halves of a head
};

// How a state lies in memory: along one axis it has room for more than is in it.
struct StateOptions {
  int64_t axis = 0;
  int64_t capacity = 0;  // of the axis, at least 1
};

class Graph {
 public:
  Graph();
  Graph(const Graph& other);  // a graph of its own, which takes the values of both
  Graph& operator=(const Graph& other);
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  // A name may be used once. Parameters without data are set on the compiled graph, before its
  // first run. Data is copied, and must have as many bytes as the type.
  Value input(const std::string& name, const TensorType& type, const InputOptions& options = {});
  // An input that stays between runs, and that runs change by update: a KV cache, the moments of an
  // optimizer. The compiled graph's bind_handle gives it its first value; docs/state.md.
  Value state(const std::string& name, const TensorType& type, const StateOptions& options);
  Value param(const std::string& name, const TensorType& type);
  Value param(const std::string& name, const TensorType& type, std::span<const std::byte> data);
  Value constant(const TensorType& type, std::span<const std::byte> data);  // at most 4096 bytes
  template <typename T>
  Value constant(const std::vector<T>& values, const Shape& shape) {
    return constant({shape, dtype_of<T>()}, std::as_bytes(std::span(values)));
  }
  Value scalar(DType dtype, double value);
  Value integers(const std::vector<int64_t>& values);  // an i64 vector
  Value dims(const std::vector<Dim>& values);          // an i64 vector of extents

  // Any op of docs/ops.md by the name it has there. Where a type is declared, the inferred one must
  // be the same.
  std::vector<Value> op(std::string_view name, const std::vector<Value>& operands,
                        const Attributes& attributes = {});
  Value op1(std::string_view name, const std::vector<Value>& operands,
            const Attributes& attributes = {},
            const std::optional<TensorType>& declared = std::nullopt);  // of one result

  Value binary(BinaryKind kind, const Value& a, const Value& b);
  Value activation(ActivationKind kind, const Value& x);
  Value add(const Value& a, const Value& b) { return binary(BinaryKind::Add, a, b); }
  Value sub(const Value& a, const Value& b) { return binary(BinaryKind::Sub, a, b); }
  Value mul(const Value& a, const Value& b) { return binary(BinaryKind::Mul, a, b); }
  Value div(const Value& a, const Value& b) { return binary(BinaryKind::Div, a, b); }
  Value relu(const Value& x) { return activation(ActivationKind::Relu, x); }
  Value gelu(const Value& x) { return activation(ActivationKind::Gelu, x); }
  Value silu(const Value& x) { return activation(ActivationKind::Silu, x); }
  Value tanh(const Value& x) { return activation(ActivationKind::Tanh, x); }
  Value sigmoid(const Value& x) { return activation(ActivationKind::Sigmoid, x); }
  Value neg(const Value& x) { return op1("neg", {x}); }
  Value exp(const Value& x) { return op1("exp", {x}); }
  Value sqrt(const Value& x) { return op1("sqrt", {x}); }
  Value matmul(const Value& a, const Value& b) { return op1("matmul", {a, b}); }
  Value mm(const Value& a, const Value& b) { return matmul(a, b); }
  Value cast(const Value& x, DType dtype) { return op1("cast", {x}, {{"dtype", dtype}}); }
  Value where(const Value& condition, const Value& then, const Value& otherwise) {
    return op1("where", {condition, then, otherwise});
  }
  Value reshape(const Value& x, const Shape& shape);
  Value transpose(const Value& x, const std::vector<int64_t>& perm);
  Value expand(const Value& x, const Shape& shape);
  // A start and an extent for each axis; steps: 1 where none are given.
  Value slice(const Value& x, const std::vector<Dim>& starts, const std::vector<Dim>& extents,
              const std::vector<int64_t>& steps = {});
  Value concat(const std::vector<Value>& parts, int64_t axis);
  std::vector<Value> split(const Value& x, int64_t axis, const std::vector<Dim>& extents);
  Value gather(const Value& data, const Value& indices, int64_t axis = 0);
  // Reduced axes stay, with extent 1.
  Value reduce_sum(const Value& x, const std::vector<int64_t>& axes);
  Value reduce_mean(const Value& x, const std::vector<int64_t>& axes);
  Value reduce_max(const Value& x, const std::vector<int64_t>& axes);
  Value reduce_min(const Value& x, const std::vector<int64_t>& axes);
  Value softmax(const Value& x, int64_t axis = -1);
  Value layer_norm(const Value& x, const Value& scale, const Value& bias, double epsilon = 1e-5);
  // x / sqrt(mean(x^2) + epsilon) * scale, along the last axis.
  Value rms_norm(const Value& x, const Value& scale, double epsilon = 1e-5);
  // activation((x @ w) * row_scale + bias) + residual; w [k, n], bias [n], row_scale [rows..., 1].
  // What is no tensor is left out.
  Value linear(const Value& x, const Value& w, const Value& bias = {}, const Value& residual = {},
               ActivationKind activation = ActivationKind::None, const Value& row_scale = {});
  // activation((x @ gate) * row_scale) * ((x @ up) * row_scale); SwiGLU where it is Silu.
  Value gated_linear(const Value& x, const Value& gate, const Value& up,
                     ActivationKind activation = ActivationKind::Silu, const Value& row_scale = {});
  // Turns pairs of each head's first r elements by angles: x [batch, length, heads*head_dim]; cos
  // and sin [length, r/2] or [batch, length, r/2]; (a, b) becomes (a cos - b sin, b cos + a sin).
  Value rotary(const Value& x, const Value& cos, const Value& sin, const RotaryOptions& options);
  // q [batch, queries, heads*head_dim], k and v [batch, keys, kv_heads*head_dim]: like q.
  Value attention(const Value& q, const Value& k, const Value& v, const AttentionOptions& options);

  // The state with the value's rows in place of its rows offset, offset + 1, ... along its axis, as
  // long as that makes it: with its extent as offset it grows. It is written in the state's own
  // memory, when everything that reads what was there has done so. Each value of a state is updated
  // once: update what the last update gave. The last one stays for the next run.
  Value update(const Value& state, const Value& value, const Dim& offset);

  // A function of the caller's on the operands: one value per result that its rule gives. Every run
  // calls it, once for each time it was applied and in that order, where an output needs what it
  // gives. `dims` are Dims whose values each call is told; docs/custom_functions.md.
  std::vector<Value> custom(const CustomFunction& function, const std::vector<Value>& operands,
                            const std::vector<Dim>& dims = {});

  // What ops built from here on come from (a layer's name); kernels and errors tell it.
  void set_origin(const std::string& origin);

  struct Output {
    std::string name;
    Value value;
  };
  // Their order is that of every list of outputs from here on. None is an Error, so is a name
  // twice.
  void set_outputs(const std::vector<Output>& outputs);

  std::string print() const;
  static Graph parse(std::string_view text);  // what print writes

 private:
  friend struct GraphState;
  std::shared_ptr<GraphState> state_;
};

}  // namespace tenon
