// Importers of matrix products.
#include "import/onnx/activations.h"
#include "import/onnx/compute.h"
#include "import/onnx/importers.h"
#include "import/onnx/ops/microsoft.h"
#include "import/onnx/quantized.h"

namespace tenon::onnx::importers {
namespace {

Value swap_last(Call& call, Value x) {
  const int rank = x.shape().rank();
  if (rank < 2) throw user_error("cannot transpose {}", x.type().to_string());
  std::vector<int64_t> perm;
  for (int i = 0; i < rank; ++i) perm.push_back(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return call.g.transpose(x, std::move(perm));
}

// [rows, batch..., columns] as [batch..., rows, columns].
Value batch_first(Call& call, Value x) {
  const int rank = x.shape().rank();
  std::vector<int64_t> perm;
  for (int i = 1; i < rank - 1; ++i) perm.push_back(i);
  perm.push_back(0);
  if (rank > 1) perm.push_back(rank - 1);
  return call.g.transpose(x, std::move(perm));
}

Value scaled(Call& call, Value x, double factor) {
  return factor == 1.0 ? x : call.g.mul(x, call.g.scalar(x.dtype(), factor));
}

}  // namespace

Results matmul(Call& call) { return {matmul_of(call, call.in(0), call.in(1))}; }

Results fused_matmul(Call& call) {
  Value a = call.in(0), b = call.in(1);
  if (call.flag("transBatchA", false)) a = batch_first(call, a);
  if (call.flag("transBatchB", false)) b = batch_first(call, b);
  if (call.flag("transA", false) && a.shape().rank() > 1) a = swap_last(call, a);
  if (call.flag("transB", false) && b.shape().rank() > 1) b = swap_last(call, b);
  return {scaled(call, matmul_of(call, a, b), call.number("alpha", 1.0))};
}

Results fused_matmul_activation(Call& call) {
  if (call.find("activation_axis")) throw unsupported_error("activation_axis is not supported");
  return {activated_by_letters(call, fused_matmul(call)[0])};
}

Results fused_gemm(Call& call) { return {activated_by_letters(call, gemm(call)[0])}; }

Results gemm_fast_gelu(Call& call) {
  Value y = matmul_of(call, call.in(0), call.in(1));
  if (Value bias = call.maybe(2)) y = call.g.add(y, bias);
  return {call.g.unary(Op::GeluTanh, y)};
}

Results gemm(Call& call) {
  Value a = call.in(0), b = call.in(1), c = call.maybe(2);
  if (a.shape().rank() != 2 || b.shape().rank() != 2) {
    throw user_error("operands must be matrices, not {} and {}", a.type().to_string(),
                     b.type().to_string());
  }
  if (call.flag("transA", false)) a = swap_last(call, a);
  if (call.flag("transB", false)) b = swap_last(call, b);
  if (call.opset() < 7) call.flag("broadcast", false);  // spreads c, as every opset does since
  const double alpha = call.number("alpha", 1.0), beta = call.number("beta", 1.0);
  Value result = call.g.matmul(a, b);
  const DType dtype = result.dtype();
  // Integers times a factor that may be none.
  const DType scaled_in = is_integer(dtype) && (alpha != 1.0 || beta != 1.0) ? DType::F64 : dtype;
  result = scaled(call, as(call, result, scaled_in), alpha);
  if (c && beta != 0.0) result = call.g.add(result, scaled(call, as(call, c, scaled_in), beta));
  return {as(call, result, dtype)};
}

}  // namespace tenon::onnx::importers
