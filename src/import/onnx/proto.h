// The ONNX messages as light structs over the file's bytes: names are string_views, weights are
// spans, nothing is copied but lists of numbers. `read_model` checks the wire format and the limits
// below; what the model means is the importer's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::onnx {

enum class Message : uint8_t {
  Model,
  Opset,
  Graph,
  Node,
  Attribute,
  Tensor,
  Entry,
  ValueInfo,
  Type,
  TensorType,
  TensorShape,
  Dimension,
  Function,
};

// How a field stands on the wire; the plural ones are repeated numbers, packed or not.
enum class Wire : uint8_t { Unknown, Varint, Fixed32, Bytes, Varints, Fixed32s, Fixed64s };

// kNodeInput, kNodeOutput, ...: field numbers, one enumerator per row.
enum Field : uint32_t {
#define FIELD(message, name, number, wire) k##message##name = (number),
#include "import/onnx/proto.def"
#undef FIELD
};

// What one file may hold. Generous for real models; a bound on memory for hostile ones.
namespace limits {
inline constexpr size_t kNodes = 500'000;            // of all graphs and functions
inline constexpr size_t kExpandedNodes = 1'000'000;  // with functions in place of their calls
inline constexpr size_t kAttributes = 2'000'000;     // of all nodes
inline constexpr size_t kOperands = 4'000'000;       // of all nodes
inline constexpr size_t kTensors = 500'000;
inline constexpr size_t kValueInfos = 100'000;
inline constexpr size_t kFunctions = 100'000;
inline constexpr size_t kNesting =
    32;  // graphs inside of nodes inside of graphs; calls of functions
inline constexpr size_t kRank = 32;
inline constexpr size_t kNameBytes = 64 * 1024;
inline constexpr size_t kSymbolicElements = 1024;  // of an integer tensor whose values are followed
inline constexpr int kDimSize = 200;               // symbols and operations of one extent
}  // namespace limits

struct TensorProto {
  std::string_view name;
  std::vector<int64_t> dims;
  int64_t data_type = 0;
  std::optional<std::string_view> raw;
  std::string_view message;  // all of it: float_data and its kin are decoded from here when wanted
  bool has_typed_data = false;
  bool has_strings = false;
  bool has_segment = false;
  bool is_external = false;
  std::vector<std::pair<std::string_view, std::string_view>> external;
};

// AttributeProto.AttributeType.
enum class AttributeKind : uint8_t {
  Undefined,
  Float,
  Int,
  String,
  Tensor,
  Graph,
  Floats,
  Ints,
  Strings,
  Other
};

struct GraphProto;

struct AttributeProto {
  std::string_view name;
  AttributeKind kind = AttributeKind::Undefined;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::optional<TensorProto> t;
  std::shared_ptr<const GraphProto> g;
  std::string_view ref_name;  // inside a function: the attribute of the call that stands here
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
};

struct NodeProto {
  std::string_view name, op_type, domain, overload;
  std::vector<std::string_view> inputs, outputs;  // an empty name is an absent optional
  std::vector<AttributeProto> attributes;
};

struct DimensionProto {
  std::optional<int64_t> value;
  std::string_view param;
};

struct ValueInfoProto {
  std::string_view name;
  bool is_tensor = false;
  int64_t elem_type = 0;
  std::optional<std::vector<DimensionProto>> dims;
};

struct GraphProto {
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<ValueInfoProto> inputs, outputs;
};

using OpsetImports = std::vector<std::pair<std::string_view, int64_t>>;  // domain, version

struct FunctionProto {
  std::string_view domain, name, overload;
  std::vector<std::string_view> inputs, outputs, attributes;  // attributes without a default
  std::vector<AttributeProto> defaults;                       // attributes with one
  std::vector<NodeProto> nodes;
  OpsetImports opsets;
};

struct ModelProto {
  int64_t ir_version = 0;
  OpsetImports opsets;
  GraphProto graph;
  std::vector<FunctionProto> functions;
};

// Reads the wire format. Bytes that are no ONNX model are a User error naming `file` and what was
// being read.
ModelProto read_model(std::span<const std::byte> bytes, const std::string& file);

// The elements of float_data, int64_data ... as little-endian bytes of the tensor's dtype, of
// `element_bytes` each. Throws User where the field that holds them does not belong to the dtype.
std::vector<std::byte> decode_typed_data(const TensorProto& tensor, const std::string& what);

}  // namespace tenon::onnx
