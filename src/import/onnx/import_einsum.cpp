// Importer of Einsum. Sums of 16-bit floats are in f32 and rounded once.
#include "graph/einsum.h"
#include "import/onnx/compute.h"
#include "import/onnx/ops/sequence.h"

namespace tenon::onnx::importers {

Results einsum(Call& call) {
  std::vector<Value> operands;
  for (int i = 0; i < call.inputs(); ++i) operands.push_back(widened(call, call.in(i)));
  return {as(call, graph::einsum(call.g, call.text("equation", ""), operands), call.in(0).dtype())};
}

}  // namespace tenon::onnx::importers
