// See arguments.h.
#include "tools/tenon/arguments.h"

#include <charconv>

#include "tools/tenon/commands.h"

namespace tenon::cli {
namespace {

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<int64_t> parse_extents(std::string_view text, char separator,
                                   const std::string& whole) {
  std::vector<int64_t> extents;
  for (const std::string_view part : split(text, separator)) {
    const auto extent = parse_number<int64_t>(part);
    if (!extent || *extent < 0) throw UsageError("'{}': '{}' is not an extent", whole, part);
    extents.push_back(*extent);
  }
  return extents;
}

std::pair<std::string, std::string> split_name(const std::string& text, const char* example) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    throw UsageError("'{}' is not NAME=VALUE, like {}", text, example);
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

std::pair<double, double> parse_range(std::string_view text, const std::string& whole) {
  const size_t at = text.find("..");
  if (at != std::string_view::npos) {
    const auto low = parse_number<double>(text.substr(0, at)),
               high = parse_number<double>(text.substr(at + 2));
    if (low && high && *low <= *high) return {*low, *high};
  }
  throw UsageError("'{}': '{}' is not a range LO..HI", whole, text);
}

}  // namespace

std::pair<std::string, std::vector<int64_t>> parse_dim(const std::string& text) {
  const auto [name, value] = split_name(text, "seq=128");
  return {name, parse_extents(value, ',', text)};
}

InputSpec parse_input(const std::string& text) {
  const auto [name, value] = split_name(text, "input_ids=ids.npy or input_ids=8x128:random");
  InputSpec spec{.name = name};
  if (value.ends_with(".npy")) {
    spec.fill = Fill::File;
    spec.file = value;
    return spec;
  }
  const std::vector<std::string_view> parts = split(value, ':');
  if (parts[0] != "scalar") spec.shape = parse_extents(parts[0], 'x', text);
  const std::string_view fill = parts.size() > 1 ? parts[1] : "random";
  if (fill == "random" && parts.size() <= 3) {
    if (parts.size() == 3) spec.range = parse_range(parts[2], text);
  } else if (fill == "zeros" && parts.size() == 2) {
    spec.fill = Fill::Zeros;
  } else if (fill == "ones" && parts.size() == 2) {
    spec.fill = Fill::Ones;
  } else {
    throw UsageError("'{}': after the shape stands random, random:LO..HI, zeros or ones", text);
  }
  return spec;
}

std::vector<Extents> cartesian_product(
    const std::vector<std::pair<std::string, std::vector<int64_t>>>& dims) {
  std::vector<Extents> result = {{}};
  for (const auto& [name, choices] : dims) {
    std::vector<Extents> longer;
    for (const Extents& extents : result) {
      for (const int64_t choice : choices) {
        longer.push_back(extents);
        longer.back()[name] = choice;
      }
    }
    result = std::move(longer);
  }
  return result;
}

}  // namespace tenon::cli
