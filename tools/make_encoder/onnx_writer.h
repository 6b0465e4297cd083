// Writes small ONNX models: nodes, initializers, inputs and outputs, by name. What the generator
// and the importer's tests build their models with.
//
//   OnnxWriter w({{"", 14}});
//   w.input("x", kFloat, {"batch", 4});
//   w.output(w.node("Relu", {"x"}), kFloat, {"batch", 4});
//   std::string bytes = w.finish();
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tenon::make_encoder {

// TensorProto.DataType.
inline constexpr int kFloat = 1, kInt32 = 6, kInt64 = 7, kBool = 9, kBfloat16 = 16;

using Dimension = std::variant<int64_t, std::string>;  // a number or a dim_param
struct Int64Vector {                                   // a tensor of one axis
  std::vector<int64_t> values;
};
struct GraphBytes {  // a graph inside of a node: OnnxWriter::graph() of another writer
  std::string bytes;
};
struct AttributeReference {  // inside a function: the attribute of the call, an integer
  std::string name;
};
using AttributeValue =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>, Int64Vector,
                 GraphBytes, AttributeReference>;

struct Attribute {
  std::string name;
  AttributeValue value;
};

class OnnxWriter {
 public:
  // Opsets by domain; "" is ai.onnx.
  explicit OnnxWriter(std::vector<std::pair<std::string, int64_t>> opsets)
      : opsets_(std::move(opsets)) {}

  void input(const std::string& name, int type, const std::vector<Dimension>& dims);
  void output(const std::string& name, int type, const std::vector<Dimension>& dims);
  void untyped_output(const std::string& name);  // a name and nothing else

  // Adds a node named Op_n and gives its output, of the same name (its outputs Op_n_o0, Op_n_o1,
  // ... where several).
  std::string node(const std::string& op, const std::vector<std::string>& inputs,
                   const std::vector<Attribute>& attributes = {}, const std::string& domain = "");
  std::vector<std::string> nodes(const std::string& op, const std::vector<std::string>& inputs,
                                 int outputs, const std::vector<Attribute>& attributes = {},
                                 const std::string& domain = "");
  // A node with every name chosen by the caller.
  void raw_node(const std::string& name, const std::string& op,
                const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                const std::vector<Attribute>& attributes = {}, const std::string& domain = "");

  // What floats() writes: kFloat, or kBfloat16, rounded to nearest even.
  void use_floats_of(int type) { float_type_ = type; }
  // kFloat, but of numbers that a bf16 can be.
  void use_short_floats() { short_floats_ = true; }
  int float_type() const { return float_type_; }
  // Initializers with raw_data. A name given before is not written again.
  std::string floats(const std::string& name, const std::vector<int64_t>& dims,
                     std::span<const float> values);
  std::string scalar(const std::string& name, float value) { return floats(name, {}, {&value, 1}); }
  std::string int64s(const std::string& name, const std::vector<int64_t>& dims,
                     const std::vector<int64_t>& values);
  std::string int64s(const std::string& name, const std::vector<int64_t>& values) {
    return int64s(name, {static_cast<int64_t>(values.size())}, values);
  }
  // An initializer with whatever dims, type and bytes, right or wrong.
  std::string tensor(const std::string& name, int type, const std::vector<int64_t>& dims,
                     std::string_view raw);

  // A function made of the nodes of `body`. `defaults` are the attributes that have a default.
  struct Function {
    std::string domain, name;
    std::vector<std::string> inputs, outputs, attributes;
    std::vector<Attribute> defaults = {};
  };
  void function(const Function& function, const OnnxWriter& body);

  bool has(const std::string& initializer) const { return initializers_.contains(initializer); }
  const std::string& graph() const { return graph_; }
  std::string finish() const;

 private:
  void value_info(uint32_t field, const std::string& name, int type,
                  const std::vector<Dimension>& dims);

  std::vector<std::pair<std::string, int64_t>> opsets_;
  std::string graph_;      // the encoded fields of the graph message so far
  std::string functions_;  // fields of the model message
  std::set<std::string> initializers_;
  int count_ = 0;
  int float_type_ = kFloat;
  bool short_floats_ = false;
};

// Writes a file whole or not at all: into a temporary beside it, then renamed. Throws
// std::runtime_error.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace tenon::make_encoder
