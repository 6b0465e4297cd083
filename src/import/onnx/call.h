// Call: one ONNX node while it is imported, as its importer sees it: operands by position,
// attributes by name, and the graph to build on. Attributes are marked when read; one that no
// importer asked for is an error, never ignored.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "import/onnx/proto.h"
#include "import/onnx/scope.h"
#include "import/onnx/tensors.h"

namespace tenon::onnx {

using graph::Op;
using graph::Value;

class Call {
 public:
  Call(Scope& scope, const NodeProto& node, std::string label, int64_t opset,
       std::vector<Value> inputs)
      : g(scope.frame().g),
        scope_(scope),
        node_(node),
        label_(std::move(label)),
        opset_(opset),
        inputs_(std::move(inputs)),
        read_(node.attributes.size()) {}

  graph::Graph& g;

  int64_t opset() const { return opset_; }
  int inputs() const { return static_cast<int>(inputs_.size()); }
  int outputs() const { return static_cast<int>(node_.outputs.size()); }
  bool wants(int output) const;          // given a name by the model
  std::string output_name(int i) const;  // empty where absent
  Value in(int i) const;                 // a missing one is a User error
  Value maybe(int i) const;              // null where absent
  // Optional operands and results that no importer handles.
  void reject_input(int i, std::string_view what) const;
  void reject_output(int i, std::string_view what) const;

  // Attributes; one of another kind is a User error.
  const AttributeProto* find(std::string_view name);
  int64_t integer(std::string_view name);  // must be there
  int64_t integer(std::string_view name, int64_t otherwise);
  bool flag(std::string_view name, bool otherwise);  // 0 or 1
  double number(std::string_view name, double otherwise);
  std::string_view text(std::string_view name, std::string_view otherwise);
  std::optional<std::vector<int64_t>> integers(std::string_view name);
  std::vector<double> numbers(std::string_view name);  // empty where absent
  void check_all_read() const;

  // Graphs as attributes, and the scope in which they stand.
  const GraphProto* maybe_graph(std::string_view name);  // null where absent
  const GraphProto& graph(std::string_view name);        // must be there
  // The graph's nodes in this node's place: its outputs.
  Results inline_graph(const GraphProto& graph, const std::vector<Value>& inputs);
  Scope& scope() { return scope_; }
  const std::string& label() const { return label_; }

  // The elements of an integer vector or scalar the model computes from shapes; Unsupported where
  // they come from data.
  std::vector<Dim> dims(Value value, std::string_view what) const;
  std::vector<int64_t> constants(Value value, std::string_view what) const;
  // Axes as attribute (older opsets) or as operand `i`; nullopt where given in neither way.
  std::optional<std::vector<int64_t>> axes(int i);
  // `axis` counted from the front; outside -rank .. rank - 1 is a User error.
  static int64_t axis_of(int64_t axis, int rank);
  static std::vector<int64_t> axes_of(std::vector<int64_t> axes,
                                      int rank);  // sorted, without repeats

  // A tensor as a leaf: a constant up to 4 KB, a parameter above.
  Value leaf(const TensorProto& tensor, const std::string& name);
  Value leaf(LoadedTensor tensor, const std::string& name);
  Value shared_leaf(LoadedTensor tensor, const std::string& name);  // made once per import
  Value zeros_like_vector(Value vector);  // of a scale, for an absent bias

 private:
  Scope& scope_;
  const NodeProto& node_;
  std::string label_;
  int64_t opset_;
  std::vector<Value> inputs_;
  std::vector<bool> read_;
};

// Bytes up to which data is part of the graph's identity.
inline constexpr size_t kConstantBytes = 4096;
Value make_leaf(graph::Graph& g, LoadedTensor tensor, const std::string& name);

// The elements of a small integer tensor, where its node knows them.
std::optional<std::vector<Dim>> shape_value(Value value);

// Unsupported where an extent or a followed element is an expression beyond limits::kDimSize: a few
// ops could otherwise double it again and again. A User error where 64 bits do not count the bytes.
void check_extents_small(Value value);

// A Slice that selects rows 0 .. n-1 of the first axis.
Value first_rows(graph::Graph& g, Value table, const Dim& rows);

// The quotient of two products, exact where the factors cancel: (batch * seq * 384) / (batch * seq
// * 12) is 32.
Dim quotient(const std::vector<Dim>& numerator, const std::vector<Dim>& denominator);
Dim product(const std::vector<Dim>& factors);

}  // namespace tenon::onnx
