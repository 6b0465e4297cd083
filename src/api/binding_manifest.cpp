// BindingManifest: the slots of a program, laid out one after the other.
#include "tenon/binding_manifest.h"

#include <fmt/format.h>

#include "api/lir_state.h"
#include "api/manifest_of.h"
#include "types/active_extent.h"

namespace tenon {
namespace {

// With all rows of a bucket.
Shape whole(const Shape& shape) {
  std::vector<Dim> dims;
  for (const Dim& dim : shape) {
    const auto active = find_active_extent(dim.symbols());
    dims.push_back(active ? dim.substitute(*active, active->bounds().hi) : dim);
  }
  return Shape(std::move(dims));
}

template <typename Slots>
std::vector<BindingManifest::Tensor> laid_out(const Slots& slots) {
  std::vector<BindingManifest::Tensor> list;
  for (const auto& slot : slots) {
    const TensorType type{whole(slot.type.shape), slot.type.dtype};
    const Dim offset = round_up(BindingManifest::bytes_of(list), BindingManifest::kAlignment);
    list.push_back({slot.name, type.dtype, type.shape, type.bytes(), offset});
  }
  return list;
}

}  // namespace

BindingManifest manifest_of(const program::Program& program) {
  return {laid_out(program.inputs), laid_out(program.params), laid_out(program.outputs)};
}

BindingManifest BindingManifest::of(const LirModule& lir) {
  return manifest_of(LirState::of(lir).lir.program);
}

Dim BindingManifest::bytes_of(const std::vector<Tensor>& list) {
  return list.empty() ? Dim(0) : list.back().offset + list.back().bytes;
}

std::string to_string(const BindingManifest& manifest) {
  std::string text;
  const auto add = [&](const char* role, const std::vector<BindingManifest::Tensor>& list) {
    for (const auto& each : list) {
      text += fmt::format("{} \"{}\" : {}, {} bytes at {}\n", role, each.name,
                          TensorType{each.shape, each.dtype}.to_string(), each.bytes.to_string(),
                          each.offset.to_string());
    }
  };
  add("input", manifest.inputs);
  add("param", manifest.params);
  add("output", manifest.outputs);
  return text;
}

}  // namespace tenon
