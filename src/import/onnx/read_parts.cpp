// Reads tensors and value infos: the parts of a model that stand in more than one place or nest on
// their own.
#include "import/onnx/read_parts.h"

namespace tenon::onnx {
namespace {

void read_external(WireReader message, TensorProto& tensor) {
  auto& [key, value] = tensor.external.emplace_back();
  while (message.next()) {
    if (message.field() == kEntryKey) key = message.text();
    if (message.field() == kEntryValue) value = message.text();
  }
}

std::vector<DimensionProto> read_shape(WireReader message) {
  std::vector<DimensionProto> dims;
  while (message.next()) {
    limit(dims.size() + 1, limits::kRank, "dims of a tensor");
    DimensionProto& dim = dims.emplace_back();
    WireReader dimension = message.message(Message::Dimension);
    while (dimension.next()) {
      if (dimension.field() == kDimensionValue) dim.value = dimension.integer();
      if (dimension.field() == kDimensionParam) dim.param = dimension.text();
    }
  }
  return dims;
}

void read_tensor_type(WireReader message, ValueInfoProto& info) {
  info.is_tensor = true;
  while (message.next()) {
    if (message.field() == kTensorTypeElemType) info.elem_type = message.integer();
    if (message.field() == kTensorTypeShape) {
      info.dims = read_shape(message.message(Message::TensorShape));
    }
  }
}

}  // namespace

void limit(size_t count, size_t most, const char* what) {
  if (count > most) throw user_error("more than {} {}", most, what);
}

TensorProto read_tensor(std::string_view bytes, std::string_view& name) {
  TensorProto tensor;
  tensor.message = bytes;
  WireReader message{{bytes.data(), bytes.size()}, Message::Tensor};
  while (message.next()) {
    switch (message.field()) {
      case kTensorDims:
        message.integers(tensor.dims);
        limit(tensor.dims.size(), limits::kRank, "dims of a tensor");
        break;
      case kTensorDataType:
        tensor.data_type = message.integer();
        break;
      case kTensorName:
        name = tensor.name = message.text();
        break;
      case kTensorRawData:
        tensor.raw = message.bytes();
        break;
      case kTensorFloatData:
      case kTensorInt32Data:
      case kTensorInt64Data:
      case kTensorDoubleData:
      case kTensorUint64Data:
        tensor.has_typed_data = true;
        message.skip();
        break;
      case kTensorStringData:
        tensor.has_strings = true;
        message.skip();
        break;
      case kTensorSegment:
        tensor.has_segment = true;
        message.skip();
        break;
      case kTensorExternalData:
        limit(tensor.external.size() + 1, 16, "external data entries");
        read_external(message.message(Message::Entry), tensor);
        break;
      case kTensorDataLocation:
        tensor.is_external = message.integer() == 1;
        break;
    }
  }
  return tensor;
}

ValueInfoProto read_value_info(WireReader message, std::string_view& name) {
  ValueInfoProto info;
  while (message.next()) {
    if (message.field() == kValueInfoName) name = info.name = message.text();
    if (message.field() != kValueInfoType) continue;
    WireReader type = message.message(Message::Type);
    while (type.next()) read_tensor_type(type.message(Message::TensorType), info);
  }
  return info;
}

}  // namespace tenon::onnx
