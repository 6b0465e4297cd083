// The model's own part: its inputs as symbols and tensors.
#include "import/onnx/model_importer.h"

#include "base/error.h"

namespace tenon::onnx {

void ModelImporter::run() {
  check_ops_known(import_.model, import_.functions, opsets_);
  scope_.declare_initializers(graph_.initializers);
  declare_inputs();
  symbols_.check_bounds_used();
  scope_.import_nodes(graph_.nodes);
  import_outputs();
}

void ModelImporter::declare_inputs() {
  for (const ValueInfoProto& input : graph_.inputs) {
    if (input.name.empty()) throw user_error("a graph input has no name");
    if (scope_.has_initializer(input.name)) continue;  // its default: the input is that constant
    if (!input.is_tensor) {
      throw unsupported_error(
          "input '{}' is no tensor: sequences, optionals and maps are not "
          "supported",
          input.name);
    }
    if (!input.dims) throw unsupported_error("input '{}' has no shape", input.name);
    const DType dtype = dtype_of(input.elem_type, fmt::format("input '{}'", input.name));
    std::vector<Dim> dims;
    for (size_t axis = 0; axis < input.dims->size(); ++axis) {
      dims.push_back(symbols_.extent((*input.dims)[axis], input.name, axis));
    }
    if (scope_.knows(input.name)) throw user_error("input '{}' is given twice", input.name);
    const std::string name(input.name);
    frame_.reserve_name(name);
    scope_.define(input.name, frame_.g.input(name, {Shape(std::move(dims)), dtype}));
  }
}

}  // namespace tenon::onnx
