// See record.h. KERNEL TARGET EXTENTS DEFAULT_MS TUNED_MS NAME: CHOICE
#include "tune/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace tenon::tune {
namespace {

constexpr std::string_view kFirstLine = "tenon tuned schedules 1";
constexpr std::string_view kNothing = "-";
constexpr size_t kDigestLetters = 64;

// Fields are separated by spaces, and the name ends with a colon.
std::string field(const std::string& text) {
  if (text.empty()) return std::string(kNothing);
  std::string result = text;
  for (char& c : result) {
    if (static_cast<unsigned char>(c) <= ' ' || c == ':' || c == '\x7f') c = '_';
  }
  return result;
}

std::string unless_nothing(std::string_view text) {
  return text == kNothing ? std::string() : std::string(text);
}

// Up to the next space, which it takes too.
std::string_view take_word(std::string_view& text) {
  const size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

bool read_milliseconds(std::string_view word, double& value) {
  const char* past = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), past, value);
  return error == std::errc() && end == past && std::isfinite(value) && value >= 0;
}

bool is_digest(std::string_view word) {
  return word.size() == kDigestLetters && std::ranges::all_of(word, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

std::string print(const Record& record) {
  return fmt::format("{} {} {} {:.6f} {:.6f} {}: {}", record.kernel, field(record.target),
                     field(record.extents), record.default_ms, record.tuned_ms, field(record.name),
                     to_string(record.choice));
}

Result<Record> parse_record(std::string_view line) {
  const size_t colon = line.find(':');
  std::string_view fields = line.substr(0, colon);
  Record record;
  record.kernel = take_word(fields);
  record.target = unless_nothing(take_word(fields));
  record.extents = unless_nothing(take_word(fields));
  const bool timed = read_milliseconds(take_word(fields), record.default_ms) &&
                     read_milliseconds(take_word(fields), record.tuned_ms);
  record.name = unless_nothing(take_word(fields));
  if (!is_digest(record.kernel) || !timed || !fields.empty() || colon == std::string_view::npos)
    return user_error("\"{}\" is no line of tuned schedules", line.substr(0, 100));
  Result<schedule::Choice> choice = schedule::Choice::parse(line.substr(colon + 1));
  if (!choice) return choice.error();
  record.choice = std::move(choice.value());
  return record;
}

std::string print(std::span<const Record> records) {
  std::string text = std::string(kFirstLine) + "\n";
  for (const Record& record : records) text += print(record) + "\n";
  return text;
}

Result<std::vector<Record>> parse_records(std::string_view text) {
  std::vector<Record> records;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (number == 1 && line != kFirstLine)
      return user_error("line 1 is not \"{}\": these are no tuned schedules", kFirstLine);
    if (number == 1 || line.empty() || line.starts_with('#')) continue;
    Result<Record> record = parse_record(line);
    if (!record) return user_error("line {}: {}", number, record.error().what());
    records.push_back(std::move(record.value()));
  }
  return records;
}

std::vector<Record> read_records(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw user_error("[tune] {} cannot be read", path);
  Result<std::vector<Record>> records = parse_records(text.str());
  if (!records) throw user_error("[tune] {}: {}", path, records.error().what());
  return std::move(records.value());
}

}  // namespace tenon::tune
