// The model's own functions: found by domain, name and overload; a call of one is imported as if
// its nodes stood in the caller's place. Their nodes may refer to attributes of the call.
#pragma once

#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "import/onnx/proto.h"

namespace tenon::onnx {

// "" for ai.onnx.
std::string_view canonical_domain(std::string_view domain);
std::string qualified(std::string_view domain, std::string_view op);  // domain.Op, or Op

class Functions {
 public:
  explicit Functions(const std::vector<FunctionProto>& functions);  // User error for two of a name
  const FunctionProto* find(const NodeProto& node) const;           // null: the node calls none

 private:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Key, const FunctionProto*> by_key_;
};

// A call under way. `attributes` are those of the call, and the defaults of the others.
struct FunctionCall {
  const FunctionProto* function;
  std::vector<AttributeProto> attributes;
  const FunctionCall* caller;  // the call around this one; null: there is none
};

// The node with the call's attributes where it refers to them; one that the call does not have is
// absent.
NodeProto with_attributes(const NodeProto& node, const FunctionCall& call);
bool refers_to_attributes(const NodeProto& node);

// What a call of `function` by `node` gives its nodes. User error where it calls itself.
FunctionCall enter(const FunctionProto& function, const NodeProto& node,
                   const FunctionCall* caller);

}  // namespace tenon::onnx
