// The interpreter's table, and its view of tensors: decode, encode, offsets of strided and spread
// elements.
#include "graph/evaluate.h"

#include <cstring>

#include "base/error.h"
#include "graph/limits.h"

namespace tenon::graph {

namespace {

using Evaluator = std::vector<Tensor> (*)(const Evaluation&);

constexpr Evaluator kEvaluators[] = {
#define OP(Name, rule, evaluator, ...) evaluators::evaluator,
#include "graph/ops.def"
};

}  // namespace

std::vector<Tensor> evaluate(const Node& node, std::span<const Tensor* const> operands,
                             const SymbolValues& values) {
  count_step();
  return kEvaluators[static_cast<size_t>(node.op())](Evaluation{node, operands, values});
}

int64_t Tensor::elements() const { return element_count(shape); }

int64_t Evaluation::value_of(const Dim& dim) const {
  if (dim.is_const()) return dim.const_value();
  const std::optional<int64_t> value = dim.evaluate(values);
  if (!value) {
    throw user_error("[{}] the extent {} has no value", info(node.op()).text, dim.to_string());
  }
  return *value;
}

Extents Evaluation::values_of(std::span<const Dim> dims) const {
  Extents result;
  for (const Dim& dim : dims) result.push_back(value_of(dim));
  return result;
}

int64_t element_count(std::span<const int64_t> extents) {
  const int64_t limit = element_limit();
  int64_t count = 1;
  for (const int64_t extent : extents) {
    if (extent < 0) throw user_error("an extent is negative: {}", extent);
    if (__builtin_mul_overflow(count, extent, &count) || count > limit) {
      throw user_error("a tensor has too many elements: [{}]", fmt::join(extents, ", "));
    }
  }
  return count;
}

Extents row_major_strides(std::span<const int64_t> extents) {
  Extents strides(extents.size(), 1);
  for (size_t i = extents.size(); i-- > 1;) strides[i - 1] = strides[i] * extents[i];
  return strides;
}

Tensor make_tensor(DType dtype, Extents shape) {
  const auto bytes = static_cast<size_t>(element_count(shape) * size_of(dtype));
  return {dtype, std::move(shape), std::vector<std::byte>(bytes)};
}

std::vector<double> to_doubles(const Tensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.elements()));
  const auto size = static_cast<size_t>(size_of(tensor.dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = load_as_f64(tensor.dtype, tensor.bytes.data() + i * size);
  }
  return values;
}

std::vector<int64_t> to_integers(const Tensor& tensor) {
  std::vector<int64_t> values(static_cast<size_t>(tensor.elements()));
  const auto size = static_cast<size_t>(size_of(tensor.dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = load_as_i64(tensor.dtype, tensor.bytes.data() + i * size);
  }
  return values;
}

Tensor from_doubles(DType dtype, Extents shape, std::span<const double> values) {
  Tensor tensor = make_tensor(dtype, std::move(shape));
  const auto size = static_cast<size_t>(size_of(dtype));
  TENON_CHECK(values.size() * size == tensor.bytes.size(), "{} values for [{}]", values.size(),
              fmt::join(tensor.shape, ", "));
  for (size_t i = 0; i < values.size(); ++i) {
    store_from_f64(dtype, tensor.bytes.data() + i * size, values[i]);
  }
  return tensor;
}

Tensor from_integers(DType dtype, Extents shape, std::span<const int64_t> values) {
  Tensor tensor = make_tensor(dtype, std::move(shape));
  const auto size = static_cast<size_t>(size_of(dtype));
  TENON_CHECK(values.size() * size == tensor.bytes.size(), "{} values for [{}]", values.size(),
              fmt::join(tensor.shape, ", "));
  for (size_t i = 0; i < values.size(); ++i) {
    store_from_i64(dtype, tensor.bytes.data() + i * size, values[i]);
  }
  return tensor;
}

std::vector<int64_t> offsets(std::span<const int64_t> extents, std::span<const int64_t> strides,
                             int64_t start) {
  const int64_t count = element_count(extents);
  std::vector<int64_t> result(static_cast<size_t>(count));
  Extents index(extents.size(), 0);
  int64_t offset = start;
  for (int64_t& at : result) {
    at = offset;
    for (size_t axis = extents.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < extents[axis]) break;
      offset -= strides[axis] * extents[axis];
      index[axis] = 0;
    }
  }
  return result;
}

std::vector<int64_t> spread_offsets(std::span<const int64_t> from, std::span<const int64_t> to) {
  const Extents natural = row_major_strides(from);
  Extents strides(to.size(), 0);
  const size_t skip = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) strides[skip + i] = from[i] == 1 ? 0 : natural[i];
  return offsets(to, strides);
}

Extents broadcast_extents(Op op, std::span<const int64_t> a, std::span<const int64_t> b) {
  if (a.size() < b.size()) std::swap(a, b);
  Extents result(a.begin(), a.end());
  const size_t skip = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t& extent = result[skip + i];
    if (extent == 1) extent = b[i];
    if (extent != b[i] && b[i] != 1) {
      throw user_error("[{}] extents {} and {} do not broadcast: [{}] x [{}]", info(op).text,
                       extent, b[i], fmt::join(a, ", "), fmt::join(b, ", "));
    }
  }
  return result;
}

Tensor pick(const Tensor& source, Extents shape, std::span<const int64_t> at) {
  Tensor result = make_tensor(source.dtype, std::move(shape));
  const auto size = static_cast<size_t>(size_of(source.dtype));
  for (size_t i = 0; i < at.size(); ++i) {
    std::memcpy(result.bytes.data() + i * size,
                source.bytes.data() + static_cast<size_t>(at[i]) * size, size);
  }
  return result;
}

}  // namespace tenon::graph
