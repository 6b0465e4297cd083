// See inputs.h.
#include "tools/tenon/inputs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "api/npy.h"
#include "base/error.h"
#include "types/dim.h"

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

void add_defaults(const std::vector<DimInfo>& known, Extents& dims) {
  for (size_t i = 0; i < known.size(); ++i) {
    if (dims.contains(known[i].name)) continue;
    const int64_t extent = std::clamp<int64_t>(i == 0 ? 1 : 128, known[i].least, known[i].most);
    dims[known[i].name] = extent;
    fmt::print(stderr, "tenon: {}={} (not given; set it with --dim)\n", known[i].name, extent);
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

std::vector<std::byte> fill(const InputSpec& spec, DType dtype, const std::vector<int64_t>& shape,
                            uint64_t seed) {
  int64_t elements = 1;
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(elements, extent, &elements) || elements > int64_t{1} << 36) {
      throw user_error("input {}: shape [{}] is too large", spec.name, fmt::join(shape, ", "));
    }
  }
  const int64_t size = size_of(dtype);
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

Inputs make_inputs(const CompiledGraph& graph, const std::vector<InputSpec>& specs,
                   const Extents& dims) {
  const std::vector<TensorInfo> infos = graph.inputs();
  const std::vector<DimInfo> known = graph.dims();
  Inputs inputs{{}, {}, dims};
  for (const auto& [name, extent] : dims) check_name("dim", name, known);
  for (const InputSpec& spec : specs) check_name("input", spec.name, infos);

  for (const TensorInfo& info : infos) {
    for (const InputSpec& spec : specs) {
      if (spec.name != info.name) continue;
      TensorView& view = inputs.views[info.name];
      view = {nullptr, info.dtype, spec.shape};
      if (spec.fill == Fill::File) {
        npy::Array array = npy::read(spec.file);
        view = {nullptr, array.dtype, array.shape};
        inputs.memory[info.name] = std::move(array.bytes);
      }
      take_dims_of(info, view.shape, known, inputs.dims);
    }
  }
  add_defaults(known, inputs.dims);
  for (size_t i = 0; i < infos.size(); ++i) {
    const auto given = std::find_if(specs.begin(), specs.end(),
                                    [&](const InputSpec& s) { return s.name == infos[i].name; });
    TensorView& view = inputs.views[infos[i].name];
    std::vector<std::byte>& memory = inputs.memory[infos[i].name];
    if (given == specs.end()) view = {nullptr, infos[i].dtype, shape_of(infos[i], inputs.dims)};
    if (given == specs.end() || given->fill != Fill::File) {
      memory = fill(given == specs.end() ? InputSpec{.name = infos[i].name} : *given,
                    infos[i].dtype, view.shape, i);
    }
    view.data = memory.data();
  }
  return inputs;
}

std::string to_string(const Extents& dims) {
  std::vector<std::string> parts;
  for (const auto& [name, extent] : dims) parts.push_back(fmt::format("{}={}", name, extent));
  return fmt::format("{}", fmt::join(parts, " "));
}

}  // namespace tenon::cli
