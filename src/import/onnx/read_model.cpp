// Reads ONNX's protobuf bytes into the structs of proto.h. Keeps a trail of what it is inside of
// (graph, node 17, attribute 'axes'), which every error names; the trail is not unwound by an
// exception, so the handler can print it.
#include <protozero/exception.hpp>

#include "import/onnx/proto.h"
#include "import/onnx/read_parts.h"
#include "import/onnx/wire.h"

namespace tenon::onnx {
namespace {

class ModelReader {
 public:
  ModelReader(std::span<const std::byte> bytes, const std::string& file)
      : bytes_(bytes), file_(file) {}

  ModelProto read();

 private:
  void read_model(WireReader message);
  void read_opset(WireReader message, OpsetImports& opsets);
  GraphProto read_graph(WireReader message);
  FunctionProto read_function(WireReader message);
  NodeProto read_node(WireReader message);
  AttributeProto read_attribute(WireReader message);

  // Runs `read` with "`what` `index`" on the trail.
  template <typename Read>
  auto inside(const char* what, size_t index, Read read) {
    trail_.push_back({what, index, {}});
    auto result = read();
    trail_.pop_back();
    return result;
  }
  void call_it(std::string_view name) { trail_.back().name = name; }
  std::string where() const;

  struct Step {
    const char* what;
    size_t index;
    std::string_view name;
  };
  std::span<const std::byte> bytes_;
  const std::string& file_;
  std::vector<Step> trail_;
  ModelProto model_;
  bool has_graph_ = false;
  size_t depth_ = 0;  // of graphs inside of graphs
  size_t nodes_ = 0, tensors_ = 0, infos_ = 0, attributes_ = 0, operands_ = 0;
};

std::string ModelReader::where() const {
  std::string text = "model";
  for (const Step& step : trail_) {
    text += fmt::format(", {} {}", step.what, step.index);
    if (!step.name.empty()) text += fmt::format(" '{}'", step.name.substr(0, 200));
  }
  return text;
}

ModelProto ModelReader::read() {
  try {
    read_model(
        WireReader{{reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}, Message::Model});
  } catch (const protozero::end_of_buffer_exception&) {
    throw user_error("[onnx] {}: the file ends or a length overruns while reading {}", file_,
                     where());
  } catch (const protozero::exception& problem) {
    throw user_error("[onnx] {}: not an ONNX model: {} while reading {}", file_, problem.what(),
                     where());
  } catch (const Error& error) {
    throw Error(error.kind(),
                fmt::format("[onnx] {}: {}, while reading {}", file_, error.what(), where()));
  }
  if (!has_graph_) throw user_error("[onnx] {}: not an ONNX model: it has no graph", file_);
  return std::move(model_);
}

void ModelReader::read_model(WireReader message) {
  while (message.next()) {
    switch (message.field()) {
      case kModelIrVersion:
        model_.ir_version = message.integer();
        break;
      case kModelGraph:
        if (has_graph_) throw user_error("a second graph");
        has_graph_ = true;
        model_.graph = read_graph(message.message(Message::Graph));
        break;
      case kModelOpsetImport:
        read_opset(message.message(Message::Opset), model_.opsets);
        break;
      case kModelFunctions:
        limit(model_.functions.size() + 1, limits::kFunctions, "functions");
        model_.functions.push_back(inside("function", model_.functions.size(), [&] {
          return read_function(message.message(Message::Function));
        }));
        break;
    }
  }
}

void ModelReader::read_opset(WireReader message, OpsetImports& opsets) {
  auto& [domain, version] = opsets.emplace_back();
  limit(opsets.size(), 1000, "opset imports");
  while (message.next()) {
    if (message.field() == kOpsetDomain) domain = message.text();
    if (message.field() == kOpsetVersion) version = message.integer();
  }
}

GraphProto ModelReader::read_graph(WireReader message) {
  limit(++depth_, limits::kNesting, "graphs inside of each other");
  GraphProto graph;
  while (message.next()) {
    switch (message.field()) {
      case kGraphNode:
        graph.nodes.push_back(inside("node", graph.nodes.size(),
                                     [&] { return read_node(message.message(Message::Node)); }));
        break;
      case kGraphInitializer:
        limit(++tensors_, limits::kTensors, "initializers");
        graph.initializers.push_back(inside("initializer", graph.initializers.size(), [&] {
          return read_tensor(message.bytes(), trail_.back().name);
        }));
        break;
      case kGraphInput:
      case kGraphOutput: {
        bool input = message.field() == kGraphInput;
        auto& list = input ? graph.inputs : graph.outputs;
        limit(++infos_, limits::kValueInfos, "graph inputs or outputs");
        list.push_back(inside(input ? "graph input" : "graph output", list.size(), [&] {
          return read_value_info(message.message(Message::ValueInfo), trail_.back().name);
        }));
        break;
      }
      case kGraphSparseInitializer:
        throw unsupported_error("sparse initializers are not supported");
    }
  }
  --depth_;
  return graph;
}

FunctionProto ModelReader::read_function(WireReader message) {
  FunctionProto f;
  while (message.next()) {
    switch (message.field()) {
      case kFunctionName:
        call_it(f.name = message.text());
        break;
      case kFunctionDomain:
        f.domain = message.text();
        break;
      case kFunctionOverload:
        f.overload = message.text();
        break;
      case kFunctionInput:
      case kFunctionOutput:
      case kFunctionAttribute: {
        limit(++operands_, limits::kOperands, "node inputs and outputs");
        auto& list = message.field() == kFunctionInput    ? f.inputs
                     : message.field() == kFunctionOutput ? f.outputs
                                                          : f.attributes;
        list.push_back(message.text());
        break;
      }
      case kFunctionAttributeProto:
        limit(++attributes_, limits::kAttributes, "attributes");
        f.defaults.push_back(inside("attribute", f.defaults.size(), [&] {
          return read_attribute(message.message(Message::Attribute));
        }));
        break;
      case kFunctionNode:
        f.nodes.push_back(inside("node", f.nodes.size(),
                                 [&] { return read_node(message.message(Message::Node)); }));
        break;
      case kFunctionOpsetImport:
        read_opset(message.message(Message::Opset), f.opsets);
        break;
    }
  }
  return f;
}

NodeProto ModelReader::read_node(WireReader message) {
  limit(++nodes_, limits::kNodes, "nodes");
  NodeProto node;
  while (message.next()) {
    switch (message.field()) {
      case kNodeInput:
        limit(++operands_, limits::kOperands, "node inputs and outputs");
        node.inputs.push_back(message.text());
        break;
      case kNodeOutput:
        limit(++operands_, limits::kOperands, "node inputs and outputs");
        node.outputs.push_back(message.text());
        break;
      case kNodeName:
        call_it(node.name = message.text());
        break;
      case kNodeOpType:
        node.op_type = message.text();
        break;
      case kNodeAttribute:
        limit(++attributes_, limits::kAttributes, "attributes");
        node.attributes.push_back(inside("attribute", node.attributes.size(), [&] {
          return read_attribute(message.message(Message::Attribute));
        }));
        break;
      case kNodeDomain:
        node.domain = message.text();
        break;
      case kNodeOverload:
        node.overload = message.text();
        break;
    }
  }
  return node;
}

AttributeKind kind_of(int64_t number) {
  bool known = number >= 0 && number <= static_cast<int64_t>(AttributeKind::Strings);
  return known ? static_cast<AttributeKind>(number) : AttributeKind::Other;
}

AttributeProto ModelReader::read_attribute(WireReader message) {
  AttributeProto a;
  AttributeKind seen = AttributeKind::Undefined;  // models before IR version 2 leave out the type
  while (message.next()) {
    switch (message.field()) {
      case kAttributeName:
        call_it(a.name = message.text());
        break;
      case kAttributeF:
        a.f = message.number();
        seen = AttributeKind::Float;
        break;
      case kAttributeI:
        a.i = message.integer();
        seen = AttributeKind::Int;
        break;
      case kAttributeS:
        a.s = message.bytes();
        seen = AttributeKind::String;
        break;
      case kAttributeT:
        a.t = read_tensor(message.bytes(), trail_.back().name);
        seen = AttributeKind::Tensor;
        break;
      case kAttributeG:
        if (a.g) throw user_error("a second graph");
        a.g = std::make_shared<const GraphProto>(read_graph(message.message(Message::Graph)));
        seen = AttributeKind::Graph;
        break;
      case kAttributeFloats:
        message.floats(a.floats);
        seen = AttributeKind::Floats;
        break;
      case kAttributeInts:
        message.integers(a.ints);
        seen = AttributeKind::Ints;
        break;
      case kAttributeStrings:
        limit(++attributes_, limits::kAttributes, "attributes");
        a.strings.push_back(message.bytes());
        seen = AttributeKind::Strings;
        break;
      case kAttributeType:
        a.kind = kind_of(message.integer());
        break;
      case kAttributeRefName:
        a.ref_name = message.text();
        break;
    }
  }
  if (a.kind == AttributeKind::Undefined) a.kind = seen;
  return a;
}

}  // namespace

ModelProto read_model(std::span<const std::byte> bytes, const std::string& file) {
  return ModelReader(bytes, file).read();
}

}  // namespace tenon::onnx
