// The model's outputs, and the types it declares for them: a declaration that contradicts what the
// ops give is an error.
#include <unordered_set>

#include "base/error.h"
#include "import/onnx/model_importer.h"

namespace tenon::onnx {

void ModelImporter::import_outputs() {
  std::vector<graph::Output> outputs;
  std::unordered_set<std::string> names;
  for (const ValueInfoProto& output : graph_.outputs) {
    if (output.name.empty()) throw user_error("a graph output has no name");
    const std::optional<Value> value = scope_.find(output.name);
    if (!value) throw user_error("graph output '{}' is made by no node", output.name);
    if (!*value) throw unsupported_error("graph output '{}' is not computed here", output.name);
    check_declared(output, *value);
    std::string name(output.name);  // listed again: y, y.2, y.3
    for (int i = 2; !names.insert(name).second; ++i) name = fmt::format("{}.{}", output.name, i);
    outputs.push_back({std::move(name), *value});
  }
  if (outputs.empty()) throw user_error("the model has no outputs");
  frame_.g.set_outputs(std::move(outputs));
}

// Names of output dims that no input has are labels, not facts (exporters invent them).
void ModelImporter::check_declared(const ValueInfoProto& declared, Value value) {
  const auto contradiction = [&](const std::string& what) {
    return user_error("graph output '{}' is declared with {}, but the model computes {}",
                      declared.name, what, value.type().to_string());
  };
  if (!declared.is_tensor) return;
  if (declared.elem_type != 0) {
    const DType dtype = dtype_of(declared.elem_type, fmt::format("output '{}'", declared.name));
    if (dtype != value.dtype()) throw contradiction(std::string(to_string(dtype)));
  }
  if (!declared.dims) return;
  if (static_cast<int>(declared.dims->size()) != value.shape().rank()) {
    throw contradiction(fmt::format("rank {}", declared.dims->size()));
  }
  for (size_t i = 0; i < declared.dims->size(); ++i) {
    const DimensionProto& dim = (*declared.dims)[i];
    const Symbol* symbol = dim.value ? nullptr : symbols_.find(dim.param);
    if (!dim.value && !symbol) continue;
    const Dim extent = symbol ? Dim(*symbol) : Dim(*dim.value);
    if (prove_equal(extent, value.shape()[static_cast<int>(i)]) == Proof::No) {
      throw contradiction(fmt::format("extent {} on axis {}", extent.to_string(), i));
    }
  }
}

}  // namespace tenon::onnx
