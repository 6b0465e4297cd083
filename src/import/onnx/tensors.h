// ONNX tensors as typed bytes: raw_data in place, float_data and its kin decoded, external data
// mapped. Everything a tensor claims about itself (dims, dtype, how many bytes) is checked here,
// once.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "graph/node.h"
#include "import/onnx/proto.h"

namespace tenon::onnx {

struct LoadedTensor {
  TensorType type;
  graph::Data data;
};

class TensorLoader {
 public:
  // `owner` keeps the model's bytes alive. External data is looked for in `folder`; none: it is an
  // error.
  TensorLoader(std::shared_ptr<const void> owner, std::optional<std::filesystem::path> folder)
      : owner_(std::move(owner)), folder_(std::move(folder)) {}

  // Throws User where sizes contradict, Unsupported for strings, segments and dtypes Tenon has not.
  LoadedTensor load(const TensorProto& tensor);

 private:
  graph::Data external(const TensorProto& tensor, int64_t needed);

  std::shared_ptr<const void> owner_;
  std::optional<std::filesystem::path> folder_;
  std::map<std::filesystem::path, graph::Data> mapped_;
};

// The whole file, mapped read-only; the data owns the mapping.
graph::Data map_file(const std::filesystem::path& path);

// The dtype of an ONNX number; Unsupported names `what`.
DType dtype_of(int64_t number, std::string_view what);

}  // namespace tenon::onnx
