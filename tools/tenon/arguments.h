// Reads the small languages of the command line: numbers, NAME=VALUE, lists of extents, and how an
// input is to be made. What makes no sense is a UsageError that quotes it.
#pragma once

#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::cli {

// The whole text as a number, as std::from_chars reads it.
template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "1,2" -> {1, 2}: counts from 1 to kMostCount.
constexpr int kMostCount = 1 << 20;
std::vector<int> parse_threads(const std::string& text);

// "avx2,avx512", "80,90": what to compile for, each once.
std::vector<std::string> parse_cpus(const std::string& text);
std::vector<int> parse_cuda_archs(const std::string& text);

// "3/10" -> {3, 10}: a part, from 1 to the number of parts.
std::pair<int, int> parse_sample(const std::string& text);

// {"batch=1", "seq=16,128"} -> {{"batch", {1}}, {"seq", {16, 128}}}. Each name once.
using Extents = std::map<std::string, int64_t>;
using DimChoices = std::pair<std::string, std::vector<int64_t>>;
std::vector<DimChoices> parse_dims(const std::vector<std::string>& texts);

// {"batch=1", "seq=16"}, for a command that takes one extent of each.
Extents single_extents(const std::vector<std::string>& texts, std::string_view command);

// Every choice of one extent per dim, the last dim changing fastest.
std::vector<Extents> cartesian_product(const std::vector<DimChoices>& dims);

enum class Fill { File, Random, Zeros, Ones };

// NAME=FILE.npy, or NAME=8x128:random[:LO..HI], :zeros, :ones; "scalar" is the shape of rank 0.
struct InputSpec {
  std::string name;
  Fill fill = Fill::Random;
  std::string file;
  std::vector<int64_t> shape;
  std::optional<std::pair<double, double>> range;
};
// Each name once.
std::vector<InputSpec> parse_inputs(const std::vector<std::string>& texts);

}  // namespace tenon::cli
