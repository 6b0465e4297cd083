// Shapes, slices, padding, joining.
#include <sstream>

#include "tests/lazy_cases/ops.h"

namespace tenon::cases {
namespace {

using A = const Arguments&;
using R = Results;

Extents extents(const std::vector<int64_t>& numbers) { return {numbers.begin(), numbers.end()}; }

std::vector<std::pair<Extent, Extent>> pairs(const std::vector<int64_t>& numbers) {
  std::vector<std::pair<Extent, Extent>> result;
  for (size_t i = 0; i + 1 < numbers.size(); i += 2)
    result.emplace_back(numbers[i], numbers[i + 1]);
  return result;
}

// NumPy's way to write an index: "2,::-1,new,...,1:-1".
Slice slice(const std::string& text) {
  Slice result;
  std::istringstream parts(text);
  std::string part;
  if (std::getline(parts, part, ':') && !part.empty()) result.start = std::stoll(part);
  if (std::getline(parts, part, ':') && !part.empty()) result.stop = std::stoll(part);
  if (std::getline(parts, part, ':') && !part.empty()) result.step = std::stoll(part);
  return result;
}
std::vector<Index> places(const std::string& text) {
  std::vector<Index> result;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    if (part == "new") {
      result.emplace_back(Place::NewAxis);
    } else if (part == "...") {
      result.emplace_back(Place::Rest);
    } else if (part == ":") {
      result.emplace_back(Place::All);
    } else if (part.find(':') != std::string::npos) {
      result.emplace_back(slice(part));
    } else {
      result.emplace_back(Extent(std::stoll(part)));
    }
  }
  return result;
}

constexpr OpRow kOps[] = {
    {"reshape", [](A a) -> R { return a.x.reshape(extents(a.list())); }},
    {"join_first_axes", [](A a) -> R { return a.x.reshape({a.extents[0] * a.extents[1], -1}); }},
    {"flatten", [](A a) -> R { return a.x.flatten(); }},
    {"flatten_axes", [](A a) -> R { return a.x.flatten(a.integer(0), a.integer(1)); }},
    {"squeeze", [](A a) -> R { return a.x.squeeze(); }},
    {"squeeze_axis", [](A a) -> R { return a.x.squeeze(a.integer()); }},
    {"unsqueeze", [](A a) -> R { return a.x.unsqueeze(a.integer()); }},
    {"permute", [](A a) -> R { return a.x.permute(a.list()); }},
    {"transpose", [](A a) -> R { return a.x.transpose(); }},
    {"transpose_axes", [](A a) -> R { return a.x.transpose(a.integer(0), a.integer(1)); }},
    {"expand", [](A a) -> R { return a.x.expand(extents(a.list())); }},
    {"pad", [](A a) -> R { return a.x.pad(pairs(a.list())); }},
    {"pad_number", [](A a) -> R { return a.x.pad(pairs(a.list()), a.number()); }},
    {"shrink", [](A a) -> R { return a.x.shrink(pairs(a.list())); }},
    {"flip", [](A a) -> R { return a.x.flip(a.list()); }},
    {"index", [](A a) -> R { return a.x.index(places(a.text())); }},
    {"at", [](A a) -> R { return a.x[a.integer()]; }},
    {"rows", [](A a) -> R { return a.x[slice(a.text())]; }},
    {"slice", [](A a) -> R { return a.x.slice(a.integer(), slice(a.text())); }},
    {"second_half", [](A a) -> R { return a.x[Slice{.start = a.extents[0] / 2}]; }},
    {"last", [](A a) -> R { return a.x[a.extents[0] - 1]; }},
    {"concat", [](A a) -> R { return Tensor::concat(a.all, a.integer()); }},
    {"stack", [](A a) -> R { return Tensor::stack(a.all, a.integer()); }},
    {"split", [](A a) -> R { return a.x.split(a.list(1), a.integer()); }},
    {"chunk", [](A a) -> R { return a.x.chunk(a.integer(0), a.integer(1)); }},
    {"repeat", [](A a) -> R { return a.x.repeat(a.list()); }},
    {"roll", [](A a) -> R { return a.x.roll(a.integer(0), a.integer(1)); }},
    {"tril", [](A a) -> R { return a.x.tril(a.integer()); }},
    {"triu", [](A a) -> R { return a.x.triu(a.integer()); }},
};

}  // namespace

std::span<const OpRow> movement_ops() { return kOps; }

}  // namespace tenon::cases
