// See npy.h. The header is a Python dict literal; only the form that NumPy writes is read, with
// either kind of quotes.
#include "api/npy.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/mapped_file.h"

namespace tenon::npy {
namespace {

struct TypeName {
  std::string_view text;
  DType dtype;
};
constexpr TypeName kTypes[] = {{"b1", DType::Bool}, {"u1", DType::U8},  {"u2", DType::U16},
                               {"u4", DType::U32},  {"u8", DType::U64}, {"i1", DType::I8},
                               {"i2", DType::I16},  {"i4", DType::I32}, {"i8", DType::I64},
                               {"f2", DType::F16},  {"f4", DType::F32}, {"f8", DType::F64},
                               {"?", DType::Bool}};

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int64_t kMostElements = int64_t{1} << 40;
constexpr size_t kMostAxes = 32;

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// The value of `key` in a dict like {'descr': '<f4', 'shape': (2, 3), }.
std::optional<std::string_view> value_of(std::string_view dict, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const size_t at = dict.find(fmt::format("{0}{1}{0}", quote, key));
    if (at == std::string_view::npos) continue;
    std::string_view value = trimmed(dict.substr(at + key.size() + 2));
    if (!value.starts_with(':')) continue;
    value = trimmed(value.substr(1));
    const size_t end = value.starts_with('(') ? value.find(')') + 1 : value.find_first_of(",}");
    if (end == std::string_view::npos || end == 0) return std::nullopt;
    return trimmed(value.substr(0, end));
  }
  return std::nullopt;
}

DType parse_descr(std::string_view descr, const std::string& name) {
  std::string_view type = descr;
  const bool quoted = type.size() >= 2 && type.front() == type.back();
  if (quoted && (type[0] == '\'' || type[0] == '"')) type = type.substr(1, type.size() - 2);
  if (!type.empty() && (type[0] == '<' || type[0] == '|' || type[0] == '=')) type.remove_prefix(1);
  for (const TypeName& row : kTypes) {
    if (row.text == type) return row.dtype;
  }
  throw user_error("{}: element type {} is not supported (little-endian numbers and bool are)",
                   name, descr);
}

std::string descr_of(DType dtype, const std::string& path) {
  const auto same = [&](const TypeName& row) { return row.dtype == dtype; };
  const auto* row = std::find_if(std::begin(kTypes), std::end(kTypes), same);
  if (row == std::end(kTypes))
    throw user_error("{}: {} has no NumPy type: cast it", path, to_string(dtype));
  return fmt::format("{}{}", size_of(dtype) == 1 ? '|' : '<', row->text);
}

// The extents in "(2, 3)", "(2,)" or "()".
std::vector<int64_t> parse_shape(std::string_view text, const std::string& name) {
  if (!text.starts_with('(')) throw user_error("{}: the shape {} is not a tuple", name, text);
  std::vector<int64_t> shape;
  int64_t elements = 1;
  std::string_view rest = trimmed(text.substr(1, text.size() - 2));
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view part = trimmed(rest.substr(0, comma));
    int64_t extent = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), extent);
    if (error == std::errc::invalid_argument || end != part.data() + part.size() || extent < 0)
      throw user_error("{}: the shape {} is not a list of extents", name, text);
    if (error != std::errc() || __builtin_mul_overflow(elements, extent, &elements) ||
        elements > kMostElements || shape.size() == kMostAxes)
      throw user_error("{}: the shape {} is too large", name, text);
    shape.push_back(extent);
    rest = trimmed(rest.substr(std::min(comma + 1, rest.size())));
  }
  return shape;
}

// Where the header's dict is: version 1 has a 2-byte length, later ones 4 bytes.
std::string_view find_header(std::string_view file, const std::string& name, size_t& data_at) {
  if (file.empty()) throw user_error("{}: not a .npy file: it is empty", name);
  if (!file.starts_with(kMagic.substr(0, file.size())))
    throw user_error("{}: not a .npy file: it does not start with \\x93NUMPY", name);
  if (file.size() < 10) throw user_error("{}: the header is cut off", name);
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

// From the order in which the first axis is the fastest to that in which the last one is.
void to_c_order(Array& array) {
  const std::vector<std::byte> from = std::move(array.bytes);
  array.bytes.resize(from.size());
  const auto size = static_cast<size_t>(size_of(array.dtype));
  std::vector<size_t> strides;  // of `from`, in bytes
  size_t whole = size;
  for (const int64_t extent : array.shape) {
    strides.push_back(whole);
    whole *= static_cast<size_t>(extent);
  }
  std::vector<int64_t> at(array.shape.size());
  size_t place = 0;
  for (size_t to = 0; to < from.size(); to += size) {
    std::copy_n(&from[place], size, &array.bytes[to]);
    for (size_t axis = at.size(); axis-- > 0;) {
      place += strides[axis];
      if (++at[axis] < array.shape[axis]) break;
      place -= strides[axis] * static_cast<size_t>(at[axis]);
      at[axis] = 0;
    }
  }
}

}  // namespace

Array parse(std::span<const std::byte> file, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  size_t data_at = 0;
  const std::string_view header = find_header(text, name, data_at);
  const auto descr = value_of(header, "descr"), order = value_of(header, "fortran_order"),
             extents = value_of(header, "shape");
  if (!descr || !order || !extents)
    throw user_error("{}: the header lacks descr, fortran_order or shape", name);
  if (*order != "False" && *order != "True")
    throw user_error("{}: fortran_order is {}, neither True nor False", name, *order);
  Array array{parse_descr(*descr, name), parse_shape(*extents, name), {}};
  int64_t bytes = size_of(array.dtype);
  for (const int64_t extent : array.shape) bytes *= extent;
  const std::span<const std::byte> data = file.subspan(data_at);
  if (static_cast<int64_t>(data.size()) != bytes) {
    throw user_error("{}: {}[{}] needs {} bytes of data, the file has {}", name,
                     to_string(array.dtype), fmt::join(array.shape, ", "), bytes, data.size());
  }
  array.bytes.assign(data.begin(), data.end());
  if (*order == "True") to_c_order(array);
  return array;
}

Array read(const std::string& path) {
  const MappedFile file = MappedFile::open(path).take();
  return parse(file.bytes(), path);
}

void write(const std::string& path, DType dtype, const std::vector<int64_t>& shape,
           const void* data) {
  size_t elements = 1;
  for (const int64_t extent : shape) elements *= static_cast<size_t>(extent);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   descr_of(dtype == DType::BF16 ? DType::F32 : dtype, path),
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
