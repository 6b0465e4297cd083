// BindingManifest: what a compiled model takes and gives, before it is compiled, so that memory for
// it can be laid out.
//
//   auto manifest = tenon::BindingManifest::of(lir);
//   std::vector<std::byte> block(manifest.bytes_of(manifest.inputs).const_value());
//   std::byte* x = block.data() + manifest.inputs[0].offset.const_value();
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/lir.h"

namespace tenon {

struct BindingManifest {
  static constexpr int64_t kAlignment = 64;  // of offsets

  // Of a model with symbolic dims, extents, bytes and offsets are formulas over them:
  // bytes.is_const() says whether they are numbers.
  struct Tensor {
    std::string name;
    DType dtype{};
    Shape shape;
    Dim bytes;
    Dim offset;  // in a block that holds its list, one tensor after the other
    bool operator==(const Tensor&) const = default;
  };
  std::vector<Tensor> inputs, params, outputs;  // in the order of declaration

  static BindingManifest of(const LirModule& lir);
  static Dim bytes_of(const std::vector<Tensor>& list);  // of the block that holds them
  bool operator==(const BindingManifest&) const = default;
};
std::string to_string(const BindingManifest& manifest);  // a line for each tensor

}  // namespace tenon
