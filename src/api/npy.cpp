// See npy.h. The header is a Python dict literal; only the form that NumPy writes is read.
#include "api/npy.h"

#include <fmt/ranges.h>

#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

#include "api/atomic_file.h"
#include "base/error.h"

namespace tenon::npy {
namespace {

struct TypeName {
  std::string_view text;
  DType dtype;
};
constexpr TypeName kTypes[] = {{"?", DType::Bool}, {"b1", DType::Bool}, {"u1", DType::U8},
                               {"u2", DType::U16}, {"u4", DType::U32},  {"u8", DType::U64},
                               {"i1", DType::I8},  {"i2", DType::I16},  {"i4", DType::I32},
                               {"i8", DType::I64}, {"f2", DType::F16},  {"f4", DType::F32},
                               {"f8", DType::F64}};

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int64_t kMostElements = int64_t{1} << 40;

// The text between `key` and the end of its value, in a dict like {'descr': '<f4', 'shape': (2, 3),
// }.
std::optional<std::string_view> value_of(std::string_view dict, std::string_view key) {
  const std::string quoted = fmt::format("'{}':", key);
  const size_t at = dict.find(quoted);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view value = dict.substr(at + quoted.size());
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  const size_t end = value.starts_with('(') ? value.find(')') + 1 : value.find_first_of(",}");
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  return value.substr(0, end);
}

DType parse_descr(std::string_view descr, const std::string& name) {
  std::string_view type = descr;
  if (type.size() >= 2 && type.front() == '\'' && type.back() == '\'')
    type = type.substr(1, type.size() - 2);
  if (!type.empty() && (type[0] == '<' || type[0] == '|' || type[0] == '=')) type.remove_prefix(1);
  for (const TypeName& row : kTypes) {
    if (row.text == type) return row.dtype;
  }
  throw user_error("{}: element type {} is not supported (little-endian numbers and bool are)",
                   name, descr);
}

std::vector<int64_t> parse_shape(std::string_view text, const std::string& name) {
  if (!text.starts_with('(')) throw user_error("{}: the shape {} is not a tuple", name, text);
  text = text.substr(1, text.size() - 2);
  std::vector<int64_t> shape;
  int64_t elements = 1, extent = -1;
  const auto finish_extent = [&] {
    if (extent < 0) return;
    shape.push_back(extent);
    if (__builtin_mul_overflow(elements, extent, &elements) || elements > kMostElements ||
        shape.size() > 32) {
      throw user_error("{}: the shape ({}) is too large", name, text);
    }
    extent = -1;
  };
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      extent = (extent < 0 ? 0 : extent) * 10 + (c - '0');
      if (extent > kMostElements) throw user_error("{}: the shape ({}) is too large", name, text);
    } else if (c == ',') {
      finish_extent();
    } else if (c != ' ') {
      throw user_error("{}: the shape ({}) is not a list of extents", name, text);
    }
  }
  finish_extent();
  return shape;
}

// Where the header's dict is: version 1 has a 2-byte length, later ones 4 bytes.
std::string_view find_header(std::string_view file, const std::string& name, size_t& data_at) {
  if (!file.starts_with(kMagic) || file.size() < 10) throw user_error("{}: not a .npy file", name);
  const int version = static_cast<unsigned char>(file[6]);
  if (version < 1 || version > 3)
    throw user_error("{}: .npy version {} is not known", name, version);
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (file.size() < 8 + length_bytes) throw user_error("{}: the header is cut off", name);
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i)
    length |= size_t{static_cast<unsigned char>(file[8 + i])} << (8 * i);
  if (length > file.size() - 8 - length_bytes) throw user_error("{}: the header is cut off", name);
  data_at = 8 + length_bytes + length;
  return file.substr(8 + length_bytes, length);
}

const char* descr_of(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return "|b1";
    case DType::U8:
      return "|u1";
    case DType::U16:
      return "<u2";
    case DType::U32:
      return "<u4";
    case DType::U64:
      return "<u8";
    case DType::I8:
      return "|i1";
    case DType::I16:
      return "<i2";
    case DType::I32:
      return "<i4";
    case DType::I64:
      return "<i8";
    case DType::F16:
      return "<f2";
    case DType::BF16:
    case DType::F32:
      return "<f4";
    case DType::F64:
      return "<f8";
  }
  return "";
}

}  // namespace

Array parse(std::vector<std::byte> file, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  size_t data_at = 0;
  const std::string_view header = find_header(text, name, data_at);
  const auto descr = value_of(header, "descr"), order = value_of(header, "fortran_order"),
             extents = value_of(header, "shape");
  if (!descr || !order || !extents)
    throw user_error("{}: the header lacks descr, fortran_order or shape", name);
  if (*order != "False")
    throw user_error("{}: Fortran order is not supported; save np.ascontiguousarray(x)", name);
  Array array{parse_descr(*descr, name), parse_shape(*extents, name), {}};
  int64_t bytes = size_of(array.dtype);
  for (const int64_t extent : array.shape) bytes *= extent;
  if (static_cast<int64_t>(file.size() - data_at) != bytes) {
    throw user_error("{}: {}[{}] needs {} bytes of data, the file has {}", name,
                     to_string(array.dtype), fmt::join(array.shape, ", "), bytes,
                     file.size() - data_at);
  }
  file.erase(file.begin(), file.begin() + static_cast<int64_t>(data_at));
  array.bytes = std::move(file);
  return array;
}

Array read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  const auto size = stream ? static_cast<int64_t>(stream.tellg()) : -1;
  if (size < 0 || size > kMostElements) throw user_error("{}: cannot be read", path);
  std::vector<std::byte> file(static_cast<size_t>(size));
  stream.seekg(0);
  if (!stream.read(reinterpret_cast<char*>(file.data()), size))
    throw user_error("{}: cannot be read", path);
  return parse(std::move(file), path);
}

void write(const std::string& path, DType dtype, const std::vector<int64_t>& shape,
           const void* data) {
  size_t elements = 1;
  for (const int64_t extent : shape) elements *= static_cast<size_t>(extent);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr_of(dtype),
                  fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  header.append(63 - (10 + header.size()) % 64, ' ');  // data starts at a multiple of 64
  header += '\n';

  std::string file(kMagic);
  file += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
           static_cast<char>(header.size() >> 8)};
  file += header;
  if (dtype == DType::BF16) {
    for (size_t i = 0; i < elements; ++i) {
      const float value = bf16_to_f32(static_cast<const uint16_t*>(data)[i]);
      file.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
  } else {
    file.append(static_cast<const char*>(data), elements * static_cast<size_t>(size_of(dtype)));
  }
  write_atomically(path, file);
}

}  // namespace tenon::npy
