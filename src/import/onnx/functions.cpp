// See functions.h.
#include "import/onnx/functions.h"

#include <algorithm>

#include "base/error.h"

namespace tenon::onnx {
namespace {

const AttributeProto* find_attribute(const std::vector<AttributeProto>& list,
                                     std::string_view name) {
  const auto found = std::ranges::find(list, name, &AttributeProto::name);
  return found == list.end() ? nullptr : &*found;
}

bool declares(const FunctionProto& function, std::string_view name) {
  return std::ranges::find(function.attributes, name) != function.attributes.end() ||
         find_attribute(function.defaults, name) != nullptr;
}

}  // namespace

std::string_view canonical_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

std::string qualified(std::string_view domain, std::string_view op) {
  return domain.empty() ? std::string(op) : fmt::format("{}.{}", domain, op);
}

Functions::Functions(const std::vector<FunctionProto>& functions) {
  for (const FunctionProto& f : functions) {
    const Key key{canonical_domain(f.domain), f.name, f.overload};
    if (!by_key_.emplace(key, &f).second) {
      throw user_error("function '{}' is given twice", qualified(f.domain, f.name));
    }
  }
}

const FunctionProto* Functions::find(const NodeProto& node) const {
  if (by_key_.empty()) return nullptr;
  const auto found = by_key_.find({canonical_domain(node.domain), node.op_type, node.overload});
  return found == by_key_.end() ? nullptr : found->second;
}

bool refers_to_attributes(const NodeProto& node) {
  return std::ranges::any_of(node.attributes,
                             [](const AttributeProto& a) { return !a.ref_name.empty(); });
}

NodeProto with_attributes(const NodeProto& node, const FunctionCall& call) {
  NodeProto result = node;
  result.attributes.clear();
  for (const AttributeProto& attribute : node.attributes) {
    if (attribute.ref_name.empty()) {
      result.attributes.push_back(attribute);
      continue;
    }
    const AttributeProto* given = find_attribute(call.attributes, attribute.ref_name);
    if (given == nullptr) continue;
    if (given->kind == AttributeKind::Graph) {
      throw unsupported_error("attribute '{}' is a graph that a function is given", attribute.name);
    }
    result.attributes.push_back(*given);
    result.attributes.back().name = attribute.name;
  }
  return result;
}

FunctionCall enter(const FunctionProto& function, const NodeProto& node,
                   const FunctionCall* caller) {
  for (const FunctionCall* at = caller; at != nullptr; at = at->caller) {
    if (at->function == &function) {
      throw user_error("function '{}' calls itself", qualified(function.domain, function.name));
    }
  }
  for (const AttributeProto& attribute : node.attributes) {
    if (declares(function, attribute.name)) continue;
    throw user_error("function '{}' has no attribute '{}'",
                     qualified(function.domain, function.name), attribute.name);
  }
  FunctionCall call{&function, node.attributes, caller};
  for (const AttributeProto& otherwise : function.defaults) {
    if (!find_attribute(node.attributes, otherwise.name)) call.attributes.push_back(otherwise);
  }
  return call;
}

}  // namespace tenon::onnx
