// See wrong_extent.h.
#include "types/wrong_extent.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tenon {
namespace {

struct Row {
  std::string_view stem;  // of the symbol's name, before the dot
  std::string_view what;
  bool is_number = false;  // what the model wrote is the value itself
};

constexpr std::string_view kSlice =
    "starts, ends, axes and steps give no slice: a step is 0, or an axis is not there or named "
    "twice";
constexpr std::string_view kAxes = "an axis is not there or named twice";
constexpr std::string_view kShape = "the input cannot have the shape that is asked for";
constexpr std::string_view kPads = "the pads and axes do not fit the input";
constexpr std::string_view kFrames = "the signal has no frames of that length and step";
constexpr std::string_view kRegion =
    "a region is of an image that is not there, or its corners are no numbers or too far apart";

constexpr Row kRows[] = {
    {"around", kAxes},
    {"block", "an extent of the block", true},
    {"depth", "the depth", true},
    {"expand", kShape},
    {"frames", kFrames},
    {"gone", kAxes},
    {"kept", kAxes},
    {"outside_spectrum", "an edge lies outside the spectrum, or a length is not positive"},
    {"pad", kPads},
    {"range", "start, limit and delta give no range: delta is 0, or there are too many elements"},
    {"reduced", kAxes},
    {"reshape", kShape},
    {"samples", "the number of samples of a region", true},
    {"slice", kSlice},
    {"spectrum", "the number of bands or the length of the transform is negative"},
    {"split", "the extent of a part", true},
    {"start", kSlice},
    {"topk", "k", true},
    {"wrong_axes", kAxes},
    {"wrong_frames", kFrames},
    {"wrong_length", "a sequence length is negative or longer than the sequence"},
    {"wrong_pads", kPads},
    {"wrong_region", kRegion},
    {"wrong_slice", kSlice},
    {"wrong_target", kShape},
};

}  // namespace

std::string wrong_extent(const Symbol& symbol, int64_t value) {
  const std::string_view name = symbol.name();
  const auto* row = std::ranges::find(kRows, name.substr(0, name.find('.')), &Row::stem);
  if (row != std::end(kRows) && !row->is_number) return std::string(row->what);
  const Bounds bounds = symbol.bounds();
  return fmt::format("{} = {} is outside its bounds {}..{}",
                     row == std::end(kRows) ? name : row->what, value, bounds.lo, bounds.hi);
}

}  // namespace tenon
