// See inputs.h.
#include "tools/tenon/inputs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "base/error.h"
#include "tenon/dim.h"
#include "tools/tenon/memory.h"

namespace tenon::cli {
namespace {

template <typename Infos>
std::string names(const Infos& infos) {
  std::vector<std::string> list;
  for (const auto& info : infos) list.push_back(info.name);
  return list.empty() ? "none" : fmt::format("{}", fmt::join(list, ", "));
}

template <typename Infos>
void check_name(const char* what, const std::string& name, const Infos& infos) {
  const auto same = [&](const auto& info) { return info.name == name; };
  if (std::any_of(infos.begin(), infos.end(), same)) return;
  throw user_error("unknown {} '{}'; the model has: {}", what, name, names(infos));
}

void fix(Extents& dims, const std::string& name, int64_t extent, const std::string& source) {
  const auto [found, fresh] = dims.emplace(name, extent);
  if (!fresh && found->second != extent) {
    throw user_error("dim {} is {} by --dim or another input, but {} makes it {}", name,
                     found->second, source, extent);
  }
}

// Extents that follow from the shapes of given inputs.
void take_dims_of(const TensorInfo& info, const std::vector<int64_t>& shape,
                  const std::vector<DimInfo>& known, Extents& dims) {
  if (shape.size() != info.shape.size()) return;  // the run reports it, with shapes
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const auto is_dim = [&](const DimInfo& dim) { return dim.name == info.shape[axis]; };
    if (std::any_of(known.begin(), known.end(), is_dim)) {
      fix(dims, info.shape[axis], shape[axis], "input " + info.name);
    }
  }
}

void add_defaults(const std::vector<DimInfo>& known, Inputs& inputs) {
  for (size_t i = 0; i < known.size(); ++i) {
    const int64_t extent = std::clamp<int64_t>(i == 0 ? 1 : 128, known[i].least, known[i].most);
    if (inputs.dims.emplace(known[i].name, extent).second) inputs.defaults[known[i].name] = extent;
  }
}

std::vector<int64_t> shape_of(const TensorInfo& info, const Extents& dims) {
  std::vector<int64_t> shape;
  for (const std::string& text : info.shape) {
    const Dim dim =
        Dim::parse(text, [](std::string_view name) { return Symbol(std::string(name)); });
    const auto extent = dim.evaluate([&](const Symbol& symbol) -> std::optional<int64_t> {
      const auto found = dims.find(symbol.name());
      return found == dims.end() ? std::nullopt : std::optional(found->second);
    });
    if (!extent)
      throw user_error("input {}: extent {} cannot be computed; give its shape", info.name, text);
    shape.push_back(*extent);
  }
  return shape;
}

const GivenInput* find(const std::vector<GivenInput>& given, const std::string& name) {
  const auto same = [&](const GivenInput& input) { return input.spec.name == name; };
  const auto found = std::find_if(given.begin(), given.end(), same);
  return found == given.end() ? nullptr : &*found;
}

TensorView view_of(const TensorInfo& info, const GivenInput& given) {
  if (given.spec.fill != Fill::File) return {nullptr, info.dtype, given.spec.shape};
  return {given.array.bytes.data(), given.array.dtype, given.array.shape};
}

std::vector<std::byte> fill(const InputSpec& spec, const TensorView& view, uint64_t seed) {
  const DType dtype = view.dtype;
  const int64_t size = size_of(dtype);
  int64_t elements = 1;
  for (const int64_t extent : view.shape) elements *= extent;  // no overflow: it fits in memory
  std::vector<std::byte> bytes(static_cast<size_t>(elements * size));
  if (spec.fill == Fill::Zeros) return bytes;
  std::mt19937_64 random(seed);
  const auto [low, high] =
      spec.range.value_or(is_float(dtype) ? std::pair(-1.0, 1.0) : std::pair(0.0, 1.0));
  for (int64_t i = 0; i < elements; ++i) {
    const double unit =
        static_cast<double>(random() >> 11) * 0x1p-53;  // [0, 1), the same everywhere
    double value = low + unit * (high - low);
    if (!is_float(dtype)) value = std::min(std::floor(low + unit * (high - low + 1)), high);
    if (spec.fill == Fill::Ones) value = 1;
    store_from_f64(dtype, bytes.data() + i * size, value);
  }
  return bytes;
}

}  // namespace

std::vector<GivenInput> read_inputs(const std::vector<std::string>& texts) {
  std::vector<GivenInput> given;
  for (InputSpec& spec : parse_inputs(texts)) {
    npy::Array array = spec.fill == Fill::File ? npy::read(spec.file) : npy::Array();
    given.push_back({std::move(spec), std::move(array)});
  }
  return given;
}

Inputs plan_inputs(CompiledGraph& graph, const std::vector<GivenInput>& given,
                   const Extents& dims) {
  const std::vector<TensorInfo> infos = graph.inputs();
  const std::vector<DimInfo> known = graph.dims();
  for (const auto& [name, extent] : dims) check_name("dim", name, known);
  for (const GivenInput& input : given) check_name("input", input.spec.name, infos);

  Inputs inputs{.memory = {}, .views = {}, .dims = dims, .defaults = {}};
  for (const TensorInfo& info : infos) {
    const GivenInput* input = find(given, info.name);
    if (!input) continue;
    const TensorView& view = inputs.views[info.name] = view_of(info, *input);
    take_dims_of(info, view.shape, known, inputs.dims);
  }
  add_defaults(known, inputs);
  for (const TensorInfo& info : infos) {
    if (!inputs.views.contains(info.name))
      inputs.views[info.name] = {nullptr, info.dtype, shape_of(info, inputs.dims)};
  }
  check_memory(graph.memory_of(inputs.views), to_string(inputs.dims));
  return inputs;
}

void fill_inputs(const CompiledGraph& graph, const std::vector<GivenInput>& given, Inputs& inputs) {
  uint64_t seed = 0;
  for (const TensorInfo& info : graph.inputs()) {
    const GivenInput* input = find(given, info.name);
    const InputSpec spec = input ? input->spec : InputSpec{.name = info.name};
    TensorView& view = inputs.views[info.name];
    if (spec.fill != Fill::File) {
      std::vector<std::byte>& memory = inputs.memory[info.name] = fill(spec, view, seed);
      view.data = memory.data();
    }
    ++seed;
  }
}

void say_defaults(const Inputs& inputs) {
  for (const auto& [name, extent] : inputs.defaults)
    fmt::print(stderr, "tenon: {}={} (not given; set it with --dim)\n", name, extent);
}

std::string to_string(const Extents& dims) {
  std::vector<std::string> parts;
  for (const auto& [name, extent] : dims) parts.push_back(fmt::format("{}={}", name, extent));
  return fmt::format("{}", fmt::join(parts, " "));
}

}  // namespace tenon::cli
