// The parts of a model that are read apart from the graph around them. `name` is set as soon as it
// is known, so that an error further on can say it.
#pragma once

#include "import/onnx/proto.h"
#include "import/onnx/wire.h"

namespace tenon::onnx {

TensorProto read_tensor(std::string_view bytes, std::string_view& name);
ValueInfoProto read_value_info(WireReader message, std::string_view& name);

// User error where there are more than `most` of something.
void limit(size_t count, size_t most, const char* what);

}  // namespace tenon::onnx
