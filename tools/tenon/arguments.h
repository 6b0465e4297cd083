// Reads the small languages of the command line: NAME=VALUE, lists of extents, and how an input is
// to be made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::cli {

// "seq=16,128" -> {"seq", {16, 128}}. User errors say what is wrong with the text.
std::pair<std::string, std::vector<int64_t>> parse_dim(const std::string& text);

enum class Fill { File, Random, Zeros, Ones };

// NAME=FILE.npy, or NAME=8x128:random[:LO..HI], :zeros, :ones; "scalar" is the shape of rank 0.
struct InputSpec {
  std::string name;
  Fill fill = Fill::Random;
  std::string file;
  std::vector<int64_t> shape;
  std::optional<std::pair<double, double>> range;
};
InputSpec parse_input(const std::string& text);

// Every choice of one extent per dim, the last dim changing fastest.
using Extents = std::map<std::string, int64_t>;
std::vector<Extents> cartesian_product(
    const std::vector<std::pair<std::string, std::vector<int64_t>>>& dims);

}  // namespace tenon::cli
