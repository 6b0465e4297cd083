// Loads tensors. Sizes are computed with overflow checks before anything is allocated or touched,
// so that a hostile shape costs nothing; external data must lie inside the model's own folder.
#include "import/onnx/tensors.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "base/shared_file.h"
#include "import/onnx/wire.h"

namespace tenon::onnx {
namespace {

namespace fs = std::filesystem;

std::string label(const TensorProto& tensor) {
  return tensor.name.empty() ? std::string("unnamed tensor")
                             : fmt::format("tensor '{}'", tensor.name);
}

// Elements of 4 and 2 bits are packed in files, low bits first, and take a byte each in memory.
bool is_packed(DType dtype) { return info(dtype).bits < 8; }

int64_t packed_size(DType dtype, int64_t elements) {
  const int64_t per_byte = 8 / info(dtype).bits;
  return elements / per_byte + (elements % per_byte == 0 ? 0 : 1);
}

// Bytes that `dims` elements of `dtype` take in memory.
int64_t byte_size(const TensorProto& tensor, DType dtype) {
  int64_t bytes = size_of(dtype);
  bool empty = false;
  for (int64_t dim : tensor.dims) {
    if (dim < 0) throw user_error("{} has the negative dim {}", label(tensor), dim);
    empty |= dim == 0;
  }
  if (empty) return 0;
  for (int64_t dim : tensor.dims) {
    if (__builtin_mul_overflow(bytes, dim, &bytes)) {
      throw user_error("{} is too large: dims [{}] of {} overflow 64 bits", label(tensor),
                       fmt::join(tensor.dims, ", "), to_string(dtype));
    }
  }
  return bytes;
}

void check_size(const TensorProto& tensor, DType dtype, int64_t wanted, size_t found) {
  if (static_cast<uint64_t>(wanted) == found) return;
  throw user_error("{} of type {}[{}] needs {} bytes but the file has {}", label(tensor),
                   to_string(dtype), fmt::join(tensor.dims, ", "), wanted, found);
}

std::vector<std::byte> unpacked(std::span<const std::byte> packed, DType dtype, int64_t count) {
  const int bits = info(dtype).bits, per_byte = 8 / bits;
  std::vector<std::byte> result(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const int byte = std::to_integer<int>(packed[static_cast<size_t>(i / per_byte)]);
    const int code = (byte >> (i % per_byte * bits)) & ((1 << bits) - 1);
    void* element = &result[static_cast<size_t>(i)];
    if (is_float(dtype)) {
      result[static_cast<size_t>(i)] = static_cast<std::byte>(code);
    } else {
      store_from_i64(dtype, element, code);  // which extends the sign
    }
  }
  return result;
}

int64_t parse_number(std::string_view text, std::string_view key, const TensorProto& tensor) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    throw user_error("{}: external data has the bad {} '{}'", label(tensor), key, text);
  }
  return value;
}

struct ExternalPlace {
  std::string_view location;
  int64_t offset = 0, length = -1;  // -1: as much as the tensor needs
};

ExternalPlace external_place(const TensorProto& tensor) {
  ExternalPlace place;
  std::vector<std::string_view> seen;
  for (const auto& [key, value] : tensor.external) {
    if (std::ranges::find(seen, key) != seen.end()) {
      throw user_error("{}: external data has '{}' twice", label(tensor), key);
    }
    seen.push_back(key);
    if (key == "location") {
      place.location = value;
    } else if (key == "offset") {
      place.offset = parse_number(value, key, tensor);
    } else if (key == "length") {
      place.length = parse_number(value, key, tensor);
    } else if (key != "checksum") {  // of the whole file, for those who doubt it
      throw unsupported_error("{}: external data has the unknown key '{}'", label(tensor), key);
    }
  }
  return place;
}

// `location` below `folder`, links resolved; anything outside is refused.
fs::path inside(const fs::path& folder, std::string_view location, const TensorProto& tensor) {
  std::error_code error;
  fs::path root = fs::weakly_canonical(folder.empty() ? fs::path(".") : folder, error);
  fs::path file = error ? fs::path() : fs::weakly_canonical(root / fs::path(location), error);
  fs::path relative = error ? fs::path() : file.lexically_relative(root);
  bool escapes = relative.empty() || *relative.begin() == ".." ||
                 fs::path(location).is_absolute() || location.find('\0') != location.npos;
  if (escapes) {
    throw user_error("{}: external data at '{}' is outside the model's folder", label(tensor),
                     location);
  }
  return file;
}

}  // namespace

DType dtype_of(int64_t number, std::string_view what) {
  std::optional<DType> dtype;
  if (number > 0 && number < 1000) dtype = dtype_from_onnx(static_cast<int>(number));
  if (!dtype) throw unsupported_error("{} has ONNX element type {}, not supported", what, number);
  return *dtype;
}

graph::Data map_file(const std::filesystem::path& path) {
  auto file = map_shared(path.string()).take();
  return {file->bytes(), file};
}

LoadedTensor TensorLoader::load(const TensorProto& tensor) {
  if (tensor.has_strings) throw unsupported_error("{} holds strings", label(tensor));
  if (tensor.has_segment) throw unsupported_error("{} is stored in segments", label(tensor));
  DType dtype = dtype_of(tensor.data_type, label(tensor));
  int64_t size = byte_size(tensor, dtype);
  graph::Data data;
  if (tensor.is_external) {
    if (tensor.raw || tensor.has_typed_data) {
      throw user_error("{} has both external data and data in the model", label(tensor));
    }
    data = external(tensor, is_packed(dtype) ? packed_size(dtype, size) : size);
  } else if (tensor.raw) {
    if (tensor.has_typed_data) {
      throw user_error("{} has both raw_data and typed data", label(tensor));
    }
    data = {std::as_bytes(std::span(tensor.raw->data(), tensor.raw->size())), owner_};
  } else {
    auto decoded =
        std::make_shared<std::vector<std::byte>>(decode_typed_data(tensor, label(tensor)));
    data = {*decoded, decoded};
  }
  if (is_packed(dtype)) {
    check_size(tensor, dtype, packed_size(dtype, size), data.bytes.size());
    auto elements = std::make_shared<std::vector<std::byte>>(unpacked(data.bytes, dtype, size));
    data = {*elements, elements};
  }
  check_size(tensor, dtype, size, data.bytes.size());
  std::vector<Dim> dims(tensor.dims.begin(), tensor.dims.end());
  return {{Shape(std::move(dims)), dtype}, std::move(data)};
}

graph::Data TensorLoader::external(const TensorProto& tensor, int64_t needed) {
  const auto [location, offset, given] = external_place(tensor);
  const int64_t length = given < 0 ? needed : given;
  if (location.empty()) throw user_error("{}: external data has no location", label(tensor));
  if (!folder_) {
    throw unsupported_error("{} has external data at '{}', but the model comes from memory",
                            label(tensor), location);
  }
  fs::path path = inside(*folder_, location, tensor);
  auto found = mapped_.find(path);
  if (found == mapped_.end()) found = mapped_.emplace(path, map_file(path)).first;
  const graph::Data& file = found->second;
  auto size = static_cast<int64_t>(file.bytes.size());
  if (offset > size || length > size - offset) {
    throw user_error("{}: external data at '{}' ends at byte {} before offset {} + length {}",
                     label(tensor), location, size, offset, length);
  }
  return {file.bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(length)), file.owner};
}

}  // namespace tenon::onnx
