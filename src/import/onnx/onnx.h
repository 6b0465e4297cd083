// Reads ONNX models: the wire format over a mapped file, with limits; then every node through a
// table of importers into the graph builder. Initializers above 4 KB become parameters that point
// into the mapped file.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "graph/graph.h"
#include "graph/interpret.h"

namespace tenon::onnx {

struct ImportOptions {
  // Narrows symbols: {"seq", {1, 512}}. An unknown name is a User error that lists the model's
  // symbols.
  std::map<std::string, std::pair<int64_t, int64_t>> dim_bounds;
  // Extents of inputs that are numbers become symbols too: n becomes INPUT_AXIS of 0..2n, unless
  // that name is among `fixed_extents`.
  bool free_extents = false;
  std::set<std::string> fixed_extents;
};

graph::Graph import_file(const std::string& path, const ImportOptions& options = {});
// `owner` keeps the bytes alive: parameters point into them. `name` stands in error messages.
graph::Graph import_bytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                          const std::string& name, const ImportOptions& options = {});

// A file that holds one tensor (TensorProto), as the ONNX test suites have them.
struct NamedTensor {
  std::string name;
  graph::Tensor tensor;
};
NamedTensor read_tensor_file(const std::string& path);

}  // namespace tenon::onnx
