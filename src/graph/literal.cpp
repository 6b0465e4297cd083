// Writing and reading literals. Floats are written with the fewest digits that read back to the
// same bits; where reading back is not exact (a NaN with a payload) the constant is written as
// bytes.
#include "graph/literal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace tenon::graph {

namespace {

constexpr size_t kShownElements = 16;

std::string element_text(DType dtype, const std::byte* element) {
  if (dtype == DType::F64) return fmt::format("{}", load_as_f64(dtype, element));
  if (is_float(dtype)) return fmt::format("{}", static_cast<float>(load_as_f64(dtype, element)));
  const int64_t value = load_as_i64(dtype, element);
  return dtype == DType::U64 ? fmt::to_string(static_cast<uint64_t>(value)) : fmt::to_string(value);
}

template <typename T>
std::optional<T> whole(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

bool is_identifier(std::string_view text) {
  const auto part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  return !text.empty() &&
         (std::isalpha(static_cast<unsigned char>(text[0])) != 0 || text[0] == '_') &&
         std::ranges::all_of(text, part);
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string name_or_quoted(std::string_view text) {
  return is_identifier(text) ? std::string(text) : quoted(text);
}

std::string print_elements(DType dtype, std::span<const std::byte> bytes) {
  const auto size = static_cast<size_t>(size_of(dtype));
  if (bytes.size() / size <= kShownElements) {
    std::string text;
    std::vector<std::byte> again;
    bool exact = true;
    for (size_t at = 0; at < bytes.size(); at += size) {
      const std::string element = element_text(dtype, bytes.data() + at);
      exact = parse_element(dtype, element, again) && exact;
      text += (at == 0 ? "" : ", ") + element;
    }
    if (exact && std::ranges::equal(again, bytes)) return text;
  }
  std::string text = "0x";
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

bool parse_element(DType dtype, std::string_view text, std::vector<std::byte>& bytes) {
  const size_t at = bytes.size();
  bytes.resize(at + static_cast<size_t>(size_of(dtype)));
  void* element = bytes.data() + at;
  if (is_float(dtype)) {
    const std::optional<double> value = whole<double>(text);
    if (value) store_from_f64(dtype, element, *value);
    return value.has_value();
  }
  if (dtype == DType::U64) {
    const std::optional<uint64_t> value = whole<uint64_t>(text);
    if (value) store_from_i64(dtype, element, static_cast<int64_t>(*value));
    return value.has_value();
  }
  const std::optional<int64_t> value = whole<int64_t>(text);
  if (!value) return false;
  store_from_i64(dtype, element, *value);
  return load_as_i64(dtype, element) == *value;
}

std::optional<std::vector<std::byte>> parse_hex(std::string_view text) {
  if (!text.starts_with("0x") || text.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  for (size_t at = 2; at < text.size(); at += 2) {
    const int high = hex_digit(text[at]), low = hex_digit(text[at + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return bytes;
}

}  // namespace tenon::graph
