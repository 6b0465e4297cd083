// An op applied to tensors: a tensor for each result, of the types that the op's rule infers.
#pragma once

#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "graph/attributes.h"
#include "graph/graph.h"
#include "graph/op.h"
#include "lazy/expression.h"
#include "tenon/error.h"

namespace tenon::lazy {

std::vector<Tensor> apply_all(graph::Op op, const std::vector<Tensor>& operands,
                              graph::Attributes attributes = {}, const VariableValues& values = {},
                              std::optional<Extreme> extreme = {});
Tensor apply(graph::Op op, const std::vector<Tensor>& operands, graph::Attributes attributes = {},
             const VariableValues& values = {},
             std::optional<Extreme> extreme = {});  // of one result
std::vector<Tensor> apply_custom(const CustomFunction& function,
                                 const std::vector<Tensor>& operands, const Extents& dims);

Tensor constant(TensorType type, std::span<const std::byte> bytes);
Tensor constant(const Scalar& value, DType dtype);  // of no axes
Tensor integers(const std::vector<int64_t>& values);
Tensor dims(const Extents& values);  // an i64 vector
Tensor dim(const Extent& value);     // an i64 scalar

// What `build` writes on a graph whose inputs are the operands, as tensors.
Tensor compose(const std::vector<Tensor>& operands,
               FunctionRef<graph::Value(graph::Graph& g, const std::vector<graph::Value>&)> build);

// The parts of extents, for attributes and for the operation that names them.
std::vector<Dim> dims_of(const Extents& extents);
VariableValues values_of(const Extents& extents);
// nullopt where a variable of it has no value there.
std::optional<int64_t> evaluate(const Dim& dim, const VariableValues& values);
// A variable with two values is a User error that names it and both.
void merge(VariableValues& into, const VariableValues& values, std::string_view call);

// What `make` throws begins with the name of the call, not with that of the op under it: "[take]",
// where that is a "gather".
Error renamed(std::string_view call, const Error& error);
template <typename Make>
auto named(std::string_view call, const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    throw renamed(call, error);
  }
}

int64_t wrap_axis(const char* call, int64_t axis, const Tensor& x);  // 0 .. rank - 1

}  // namespace tenon::lazy
