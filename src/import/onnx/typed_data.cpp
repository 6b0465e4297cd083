// Decodes float_data, int32_data, int64_data, double_data and uint64_data. ONNX keeps narrow types
// in wider fields (f16 bits in int32_data, u32 in uint64_data); each element is narrowed to the
// tensor's dtype, and one that does not fit is an error.
#include <cstring>
#include <protozero/exception.hpp>

#include "base/error.h"
#include "import/onnx/proto.h"
#include "import/onnx/wire.h"
#include "tenon/dtype.h"

namespace tenon::onnx {
namespace {

// The only field that may hold the elements of a dtype.
uint32_t field_of(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return kTensorFloatData;
    case DType::F64:
      return kTensorDoubleData;
    case DType::I64:
      return kTensorInt64Data;
    case DType::U32:
    case DType::U64:
      return kTensorUint64Data;
    default:
      return kTensorInt32Data;
  }
}

bool fits(DType dtype, int64_t value) {
  const int bits = info(dtype).bits;
  if (dtype == DType::Bool) return value == 0 || value == 1;
  if (bits == 64) return true;
  const int64_t half = int64_t{1} << (bits - 1);
  if (info(dtype).kind == DTypeKind::Signed) return -half <= value && value < half;
  return 0 <= value && value < 2 * half;  // unsigned, or the bits of a small float
}

template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> narrow(const std::vector<int64_t>& values, DType dtype,
                              const std::string& what) {
  const auto size = static_cast<size_t>(size_of(dtype));
  std::vector<std::byte> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!fits(dtype, values[i])) {
      throw user_error("{}: element {} is {}, which is no {}", what, i, values[i],
                       to_string(dtype));
    }
    std::memcpy(bytes.data() + i * size, &values[i],
                size);  // little-endian, as all our machines are
  }
  return bytes;
}

bool is_data_field(uint32_t field) {
  return field == kTensorFloatData || field == kTensorInt32Data || field == kTensorInt64Data ||
         field == kTensorDoubleData || field == kTensorUint64Data;
}

struct Elements {
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int64_t> integers;
};

Elements read_elements(const TensorProto& tensor, uint32_t field) {
  Elements elements;
  WireReader message{{tensor.message.data(), tensor.message.size()}, Message::Tensor};
  while (message.next()) {
    if (!is_data_field(message.field())) {
      message.skip();
    } else if (message.field() != field) {
      throw user_error("tensor '{}' has its elements in the data field of another type",
                       tensor.name);
    } else if (field == kTensorFloatData) {
      message.floats(elements.floats);
    } else if (field == kTensorDoubleData) {
      message.doubles(elements.doubles);
    } else {
      message.integers(elements.integers);
    }
  }
  return elements;
}

}  // namespace

std::vector<std::byte> decode_typed_data(const TensorProto& tensor, const std::string& what) {
  const std::optional<DType> dtype = dtype_from_onnx(static_cast<int>(tensor.data_type));
  TENON_CHECK(dtype.has_value(), "typed data of an unknown dtype");
  try {
    const Elements elements = read_elements(tensor, field_of(*dtype));
    if (*dtype == DType::F32) return bytes_of(elements.floats);
    if (*dtype == DType::F64) return bytes_of(elements.doubles);
    // Elements of fewer than 8 bits come packed: each integer is a byte of them.
    return narrow(elements.integers, info(*dtype).bits < 8 ? DType::U8 : *dtype, what);
  } catch (const protozero::exception& problem) {
    throw user_error("{} has malformed data: {}", what, problem.what());
  }
}

}  // namespace tenon::onnx
