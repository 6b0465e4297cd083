// See key.h.
#include "cache/key.h"

#include <algorithm>

namespace tenon::cache {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

bool is_name(std::string_view name) {
  const auto in_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !name.empty() && std::ranges::all_of(name, in_name);
}

bool prints(char c) { return c >= ' ' && c <= '~' && c != '\\'; }

void append_escaped(std::string& text, std::string_view value) {
  for (const char c : value) {
    if (prints(c)) {
      text += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text += '\\';
      text += kHex[byte >> 4];
      text += kHex[byte & 15];
    }
  }
}

// False: it is not what append_escaped gives.
bool unescape(std::string_view text, std::string& value) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      if (!prints(text[i])) return false;
      value += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return false;
    const size_t high = kHex.find(text[i + 1]), low = kHex.find(text[i + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return false;
    const auto c = static_cast<char>(static_cast<unsigned char>(high << 4 | low));
    if (prints(c)) return false;  // would stand for itself
    value += c;
    i += 2;
  }
  return true;
}

}  // namespace

KeyFields& KeyFields::add(std::string_view name, std::string_view value) {
  TENON_CHECK(is_name(name), "[cache] '{}' cannot name a field of a key", name);
  TENON_CHECK(!find(name), "[cache] a key has two fields '{}'", name);
  fields_.push_back({std::string(name), std::string(value)});
  return *this;
}

const std::string* KeyFields::find(std::string_view name) const {
  const auto at = std::ranges::find(fields_, name, &Field::name);
  return at == fields_.end() ? nullptr : &at->value;
}

Digest KeyFields::digest() const {
  Hasher hasher;
  hasher.number(static_cast<int64_t>(fields_.size()));
  for (const Field& field : fields_) hasher.text(field.name).text(field.value);
  return hasher.finish();
}

std::string KeyFields::text() const {
  std::string text;
  for (const Field& field : fields_) {
    text += field.name;
    text += '=';
    append_escaped(text, field.value);
    text += '\n';
  }
  return text;
}

Result<KeyFields> KeyFields::parse(std::string_view text) {
  KeyFields key;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return user_error("[cache] a key ends within a line");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const size_t equals = line.find('=');
    const std::string_view name = line.substr(0, equals);
    std::string value;
    if (equals == std::string_view::npos || !is_name(name) || key.find(name) ||
        !unescape(line.substr(equals + 1), value)) {
      return user_error("[cache] a line of a key is not NAME=VALUE: '{}'", line);
    }
    key.fields_.push_back({std::string(name), std::move(value)});
  }
  return key;
}

std::vector<std::string> differing(const KeyFields& a, const KeyFields& b) {
  std::vector<std::string> names;
  for (const auto& [name, value] : a.fields()) {
    const std::string* other = b.find(name);
    if (!other || *other != value) names.push_back(name);
  }
  for (const auto& [name, value] : b.fields()) {
    if (!a.find(name)) names.push_back(name);
  }
  return names;
}

}  // namespace tenon::cache
