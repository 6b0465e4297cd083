// Reads the file of cases: lines of words, each line a field of the case before it.
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

#include "tests/lazy_cases/case.h"

namespace tenon::cases {
namespace {

DType read_dtype(std::istream& words) {
  std::string text;
  words >> text;
  const auto dtype = parse_dtype(text);
  if (!dtype) throw std::runtime_error("no dtype is called \"" + text + "\"");
  return *dtype;
}

std::vector<std::byte> bytes_of(const std::string& hex) {
  std::vector<std::byte> bytes;
  if (hex == "-") return bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

Array read_array(std::istream& words) {
  Array array;
  array.dtype = read_dtype(words);
  size_t rank = 0;
  words >> rank;
  for (size_t i = 0; i < rank; ++i) {
    std::string extent;
    words >> extent;
    array.extents.push_back(std::stoll(extent));
    array.may_vary.push_back(extent.back() == '?');
  }
  std::string hex;
  words >> hex;
  array.bytes = bytes_of(hex);
  return array;
}

template <typename T>
std::vector<T> all_of(std::istream& words) {
  std::vector<T> result;
  for (std::string word; words >> word;) {
    if constexpr (std::is_integral_v<T>) {
      result.push_back(std::stoll(word));
    } else {
      result.push_back(std::stod(word));  // "inf" and "nan" too
    }
  }
  return result;
}

using Field = std::function<void(Case&, std::istream&)>;
const std::map<std::string, Field, std::less<>> kFields{
    {"case", [](Case& c, std::istream& words) { words >> c.name >> c.op; }},
    {"within", [](Case& c, std::istream& words) { words >> c.absolute >> c.relative; }},
    {"list", [](Case& c, std::istream& words) { c.lists.push_back(all_of<int64_t>(words)); }},
    {"number", [](Case& c, std::istream& words) { c.numbers = all_of<double>(words); }},
    {"text", [](Case& c, std::istream& words) { words >> c.text; }},
    {"dtype", [](Case& c, std::istream& words) { c.dtype = read_dtype(words); }},
    {"input", [](Case& c, std::istream& words) { c.inputs.push_back(read_array(words)); }},
    {"output", [](Case& c, std::istream& words) { c.outputs.push_back(read_array(words)); }},
};

}  // namespace

std::vector<Case> read_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string field;
    words >> field;
    if (field == "case") cases.emplace_back();
    kFields.at(field)(cases.at(cases.size() - 1), words);
  }
  return cases;
}

}  // namespace tenon::cases
