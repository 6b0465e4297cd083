// Reads and checks the environment variables of knobs.def.
#include "base/knobs.h"

#include <charconv>
#include <cstdlib>
#include <limits>

namespace tenon {
namespace {

constexpr KnobInfo kTable[] = {
#define KNOB(field, variable, Kind, value, allowed, code, doc) \
  {#variable, KnobKind::Kind, value, allowed, code, doc},
#include "base/knobs.def"
#undef KNOB
};

bool is_word_of(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t bar = words.find('|');
    if (words.substr(0, bar) == word) return true;
    if (bar == std::string_view::npos) return false;
    words.remove_prefix(bar + 1);
  }
  return false;
}

bool read_int(std::string_view text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// 1048576, 1024K or 1M.
bool read_bytes(std::string_view text, uint64_t& value) {
  constexpr std::string_view kUnits = "KMG";
  const size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
  const int shift = unit == std::string_view::npos ? 0 : 10 * (static_cast<int>(unit) + 1);
  if (shift > 0) text.remove_suffix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  if (value > std::numeric_limits<uint64_t>::max() >> shift) return false;
  value <<= shift;
  return true;
}

Error bad_value(const KnobInfo& knob, std::string_view text) {
  return user_error("[{}] '{}' is not allowed; allowed: {}", knob.variable, text, knob.allowed);
}

// An unset or empty variable has its default, which need not be one of the allowed values.
Status set(const KnobInfo& knob, const char* text, std::string& field) {
  const bool is_set = text != nullptr && *text != '\0';
  field = is_set ? text : std::string(knob.default_value);
  if (is_set && knob.kind == KnobKind::Choice && !is_word_of(knob.allowed, field)) {
    return bad_value(knob, field);
  }
  return {};
}

Status set(const KnobInfo& knob, const char* text, int& field) {
  const bool is_set = text != nullptr && *text != '\0';
  if (!is_set) {
    TENON_CHECK(read_int(knob.default_value, field), "{}: bad default", knob.variable);
    return {};
  }
  const size_t dots = knob.allowed.find("..");
  int lo = 0, hi = 0;
  TENON_CHECK(
      read_int(knob.allowed.substr(0, dots), lo) && read_int(knob.allowed.substr(dots + 2), hi),
      "{}: bad range", knob.variable);
  if (!read_int(text, field) || field < lo || field > hi) return bad_value(knob, text);
  return {};
}

Status set(const KnobInfo& knob, const char* text, uint64_t& field) {
  const bool is_set = text != nullptr && *text != '\0';
  if (!is_set) {
    TENON_CHECK(read_bytes(knob.default_value, field), "{}: bad default", knob.variable);
    return {};
  }
  if (!read_bytes(text, field)) return bad_value(knob, text);
  return {};
}

}  // namespace

Result<Knobs> Knobs::read(FunctionRef<const char*(const char*)> get) {
  Knobs knobs;
  const KnobInfo* row = kTable;
#define KNOB(field, variable, ...)                                                    \
  if (const Status status = set(*row++, get(#variable), knobs.field); !status.ok()) { \
    return status.error();                                                            \
  }
#include "base/knobs.def"
#undef KNOB
  return knobs;
}

Knobs Knobs::from_environment() {
  const auto get = [](const char* variable) -> const char* { return std::getenv(variable); };
  return read(get).take();
}

const Knobs& knobs() {
  static const Knobs kKnobs = Knobs::from_environment();
  return kKnobs;
}

std::span<const KnobInfo> knob_table() { return kTable; }

std::string knob_help() {
  std::string text;
  for (const KnobInfo& knob : kTable) {
    text += fmt::format("{}={}\n    {}", knob.variable, knob.allowed, knob.doc);
    if (knob.kind == KnobKind::Choice && !knob.default_value.empty()) {
      text += fmt::format(" (default: {})", knob.default_value);
    }
    text += '\n';
  }
  return text;
}

}  // namespace tenon
