// See arguments.h.
#include "tools/tenon/arguments.h"

#include <cmath>
#include <limits>
#include <set>

#include "tools/tenon/commands.h"

namespace tenon::cli {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// A list of numbers from `least` to `most`; `noun` says what each one is.
template <typename T>
std::vector<T> parse_list(std::string_view list, char separator, T least, T most, const char* noun,
                          const std::string& whole) {
  std::vector<T> numbers;
  for (const std::string_view part : split(list, separator)) {
    const auto number = parse_number<T>(part);
    if (!number || *number < least || *number > most)
      throw UsageError("'{}': '{}' is not {}", whole, part, noun);
    numbers.push_back(*number);
  }
  return numbers;
}

std::vector<int64_t> parse_extents(std::string_view text, char separator,
                                   const std::string& whole) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return parse_list<int64_t>(text, separator, 0, kMost, "an extent", whole);
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
    if (low && high && *low <= *high && std::isfinite(*high - *low)) return {*low, *high};
  }
  throw UsageError("'{}': '{}' is not a range LO..HI", whole, text);
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
  if (parts.size() == 1 && value.find_first_of("./") != std::string::npos)
    throw UsageError("'{}': a file of values must be a .npy file", text);
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

void check_new(std::set<std::string>& names, const std::string& name, const char* option,
               const char* advice) {
  if (!names.insert(name).second) throw UsageError("{} {} is given twice{}", option, name, advice);
}

}  // namespace

std::vector<int> parse_threads(const std::string& text) {
  return parse_list<int>(text, ',', 1, kMostCount, "a thread count", text);
}

std::vector<std::string> parse_cpus(const std::string& text) {
  std::set<std::string> names;
  std::vector<std::string> cpus;
  for (const std::string_view part : split(text, ',')) {
    if (part != "avx2" && part != "avx512")
      throw UsageError("--cpu '{}': '{}' is not known; there are: avx2, avx512", text, part);
    check_new(names, cpus.emplace_back(part), "--cpu", "");
  }
  return cpus;
}

std::vector<int> parse_cuda_archs(const std::string& text) {
  std::set<std::string> names;
  auto archs = parse_list<int>(text, ',', 80, 999, "a compute capability from 80 to 999", text);
  for (const int arch : archs) check_new(names, std::to_string(arch), "--cuda-arch", "");
  return archs;
}

std::pair<int, int> parse_sample(const std::string& text) {
  const std::vector<int> numbers = parse_list<int>(text, '/', 1, kMostCount, "a number", text);
  if (numbers.size() != 2 || numbers[0] > numbers[1])
    throw UsageError("'{}' is not N/M, like 1/10: part N of M", text);
  return {numbers[0], numbers[1]};
}

std::vector<DimChoices> parse_dims(const std::vector<std::string>& texts) {
  std::set<std::string> names;
  std::vector<DimChoices> dims;
  for (const std::string& text : texts) {
    const auto [name, value] = split_name(text, "seq=128");
    check_new(names, name, "--dim", "; `tenon bench` takes lists: seq=16,128");
    dims.emplace_back(name, parse_extents(value, ',', text));
  }
  return dims;
}

std::vector<InputSpec> parse_inputs(const std::vector<std::string>& texts) {
  std::set<std::string> names;
  std::vector<InputSpec> specs;
  for (const std::string& text : texts) {
    specs.push_back(parse_input(text));
    check_new(names, specs.back().name, "--input", "");
  }
  return specs;
}

Extents single_extents(const std::vector<std::string>& texts, std::string_view command) {
  Extents dims;
  for (const auto& [name, extents] : parse_dims(texts)) {
    if (extents.size() != 1)
      throw UsageError("--dim {}: {} takes one extent; `tenon bench` takes lists", name, command);
    dims[name] = extents[0];
  }
  return dims;
}

std::vector<Extents> cartesian_product(const std::vector<DimChoices>& dims) {
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
