// See frame.h.
#include "import/onnx/frame.h"

#include <fmt/format.h>

#include "import/onnx/call.h"

namespace tenon::onnx {

Value Frame::input(TensorType type) {
  return g.input(fmt::format("in{}", g.inputs().size()), std::move(type));
}

Value Frame::capture(Value outside) {
  if (!outside) return outside;
  const auto known = captured_.find(outside);
  if (known != captured_.end()) return known->second;
  Value inside;
  if (outside.op() == Op::Constant) {
    inside = g.constant(outside.type(), {outside.node->bytes(), nullptr});
  } else if (outside.op() == Op::Dims) {
    inside = g.dims(*outside.shape_value(), outside.shape().rank() == 0);
  } else {
    inside = input(outside.type());
    captures_.push_back(outside);
  }
  captured_.emplace(outside, inside);
  return inside;
}

Value Frame::leaf(LoadedTensor tensor, const std::string& name) {
  if (tensor.data.bytes.size() <= kConstantBytes) return make_leaf(g, std::move(tensor), name);
  if (outer_) return capture(outer_->leaf(std::move(tensor), name));
  std::string free = name;
  for (int i = 2; !names_.insert(free).second; ++i) free = fmt::format("{}.{}", name, i);
  return make_leaf(g, std::move(tensor), free);
}

Value Frame::shared_leaf(LoadedTensor tensor, const std::string& name) {
  if (outer_) return capture(outer_->shared_leaf(std::move(tensor), name));
  auto found = shared_.find(name);
  if (found == shared_.end()) {
    found = shared_.emplace(name, leaf(std::move(tensor), "tenon." + name)).first;
  }
  return found->second;
}

}  // namespace tenon::onnx
