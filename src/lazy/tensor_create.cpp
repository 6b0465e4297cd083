// Tensors made of data, of files and of nothing.
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "lazy/apply.h"
#include "lazy/promote.h"

namespace tenon {
namespace {

using graph::Op;
using lazy::apply;
using lazy::named;

// Numbers for extents whose variables are bound.
std::vector<int64_t> numbers_of(const char* call, const Extents& shape,
                                const VariableValues& values) {
  std::vector<int64_t> extents;
  for (const Extent& extent : shape) {
    const auto number = lazy::evaluate(extent.dim(), values);
    if (!number)
      throw user_error("[{}] the extent {} has no value: bind its variables", call,
                       extent.dim().to_string());
    if (*number < 0) throw user_error("[{}] an extent is {}", call, *number);
    extents.push_back(*number);
  }
  return extents;
}

int64_t bytes_of(const char* call, DType dtype, const std::vector<int64_t>& extents) {
  int64_t bytes = size_of(dtype);
  for (const int64_t extent : extents) {
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      throw user_error("[{}] the shape has more bytes than there can be", call);
  }
  return bytes;
}

struct Layout {
  Layout(const char* call, DType type, const Extents& shape)
      : dtype(type),
        dims(lazy::dims_of(shape)),
        values(lazy::values_of(shape)),
        extents(numbers_of(call, shape, values)),
        bytes(bytes_of(call, type, extents)) {}
  Tensor tensor(std::shared_ptr<const lazy::Buffer> buffer) {
    return lazy::Access::tensor(std::make_shared<const lazy::Expression>(
        TensorType{Shape(std::move(dims)), dtype},
        std::make_shared<const lazy::Elements>(
            lazy::Elements{std::move(buffer), std::move(extents), std::move(values)})));
  }
  std::string text() const { return TensorType{Shape(dims), dtype}.to_string(); }

  DType dtype;
  std::vector<Dim> dims;
  VariableValues values;
  std::vector<int64_t> extents;
  int64_t bytes;
};

Tensor part_of(const char* call, std::shared_ptr<const lazy::Buffer> base, DType dtype,
               const Extents& shape, int64_t offset) {
  Layout layout(call, dtype, shape);
  if (offset < 0 || offset > base->bytes() || layout.bytes > base->bytes() - offset)
    throw user_error("[{}] {} at byte {} needs {} bytes, there are {}", call, layout.text(), offset,
                     layout.bytes, base->bytes());
  const auto place = reinterpret_cast<uintptr_t>(base->data() + offset);
  if (place % static_cast<uintptr_t>(size_of(dtype)) != 0)
    throw user_error("[{}] byte {} is no place of a {}", call, offset, tenon::to_string(dtype));
  const auto part = lazy::Buffer::view(std::move(base), offset, layout.bytes);
  part->check();
  return layout.tensor(part);
}

Tensor random(Op op, const Extents& shape, int64_t seed, DType dtype, const char* first,
              const char* second) {
  return apply(op, {},
               {{"shape", lazy::dims_of(shape)},
                {"dtype", dtype},
                {first, 0.0},
                {second, 1.0},
                {"seed", seed},
                {"token", "tensor"}},
               lazy::values_of(shape));
}

}  // namespace

Tensor Tensor::copy_of(const void* data, size_t bytes, DType dtype, const Extents& shape) {
  Layout layout("from", dtype, shape);
  if (static_cast<int64_t>(bytes) != layout.bytes)
    throw user_error("[from] {} bytes do not fill {} of {}", bytes, layout.text(), layout.bytes);
  const auto buffer = lazy::Buffer::allocate(Device::Cpu(), layout.bytes);
  if (bytes > 0) std::memcpy(buffer->data(), data, bytes);
  return layout.tensor(buffer);
}

Tensor Tensor::from_bytes(std::span<const std::byte> bytes, DType dtype, const Extents& shape) {
  return copy_of(bytes.data(), bytes.size(), dtype, shape);
}

Tensor Tensor::wrap(const void* data, DType dtype, const Extents& shape,
                    std::shared_ptr<const void> owner) {
  Layout layout("wrap", dtype, shape);
  if (data == nullptr && layout.bytes > 0) throw user_error("[wrap] the memory is null");
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(size_of(dtype)) != 0)
    throw user_error("[wrap] the memory is not aligned for {}", tenon::to_string(dtype));
  return layout.tensor(lazy::Buffer::wrap(data, layout.bytes, std::move(owner)));
}

Tensor Tensor::map_file(const std::string& path, DType dtype, const Extents& shape,
                        int64_t offset) {
  return part_of("map_file", lazy::Buffer::map(path), dtype, shape, offset);
}

Tensor Tensor::map_file(const std::string& path) {
  auto file = lazy::Buffer::map(path);
  const int64_t bytes = file->bytes();
  return part_of("map_file", std::move(file), DType::U8, {bytes}, 0);
}

Tensor Tensor::view_bytes(DType dtype, const Extents& shape, int64_t offset) const {
  const auto elements = lazy::Access::expression(*this).elements(result_);
  if (!elements) throw user_error("[view_bytes] the tensor is not realized");
  return part_of("view_bytes", elements->buffer, dtype, shape, offset);
}

Tensor Tensor::scalar(const Scalar& value, DType dtype) {
  return lazy::element("scalar", value, dtype);
}

Tensor Tensor::full(const Extents& shape, const Scalar& value, DType dtype) {
  return named("full", [&] {
    const Tensor one = lazy::element("full", value, dtype);
    return shape.empty() ? one : one.expand(shape);
  });
}
Tensor Tensor::zeros(const Extents& shape, DType dtype) {
  return named("zeros", [&] { return full(shape, 0, dtype); });
}
Tensor Tensor::ones(const Extents& shape, DType dtype) {
  return named("ones", [&] { return full(shape, 1, dtype); });
}

Tensor Tensor::arange(const Extent& stop) {
  return named("arange", [&] {
    if (stop.dim().bounds().hi < 0)
      throw user_error("[arange] {} is negative", stop.dim().to_string());
    return apply(Op::Range, {lazy::dim(0), lazy::dim(stop), lazy::dim(1)},
                 {{"shape", std::vector<Dim>{stop.dim()}}}, stop.values());
  });
}

// Each element is start + i * step, as NumPy has it.
Tensor Tensor::arange(double start, double stop, double step, DType dtype) {
  return named("arange", [&] {
    const double count = std::ceil((stop - start) / step);
    if (!(std::abs(count) < 0x1p48))
      throw user_error("[arange] {} .. {} by {} has no count of elements", start, stop, step);
    const Tensor at = arange(Extent(std::max<int64_t>(static_cast<int64_t>(count), 0)));
    const bool whole = info(dtype).kind != DTypeKind::Float;
    const DType in = whole ? DType::I64 : dtype == DType::F64 ? DType::F64 : DType::F32;
    if (whole) return (at * static_cast<int64_t>(step) + static_cast<int64_t>(start)).cast(dtype);
    return (at.cast(in) * step + start).cast(dtype);
  });
}

Tensor Tensor::linspace(double start, double stop, int64_t count, DType dtype) {
  return named("linspace", [&] {
    if (count < 0) throw user_error("[linspace] {} elements", count);
    if (info(dtype).kind != DTypeKind::Float)
      throw user_error("[linspace] needs a floating-point dtype, not {}", tenon::to_string(dtype));
    const double step = count > 1 ? (stop - start) / static_cast<double>(count - 1) : 0;
    return (arange(Extent(count)).cast(DType::F64) * step + start).cast(dtype);
  });
}

Tensor Tensor::eye(int64_t rows, int64_t columns, DType dtype) {
  return named("eye", [&] {
    const Tensor row = arange(Extent(rows)).unsqueeze(1);
    const Tensor column = arange(Extent(columns < 0 ? rows : columns)).unsqueeze(0);
    return (row == column).cast(dtype);
  });
}

Tensor Tensor::rand(const Extents& shape, int64_t seed, DType dtype) {
  return named("rand",
               [&] { return random(Op::RandomUniform, shape, seed, dtype, "low", "high"); });
}
Tensor Tensor::randn(const Extents& shape, int64_t seed, DType dtype) {
  return named("randn",
               [&] { return random(Op::RandomNormal, shape, seed, dtype, "mean", "scale"); });
}
Tensor Tensor::randint(const Extents& shape, int64_t low, int64_t high, int64_t seed) {
  return named("randint", [&] {
    if (low >= high) throw user_error("[randint] {} is not below {}", low, high);
    int64_t count = 0;
    if (__builtin_sub_overflow(high, low, &count) || count > int64_t{1} << 53)
      throw user_error("[randint] {} .. {} are more than 2^53 numbers", low, high);
    const Tensor numbers = rand(shape, seed, DType::F64) * static_cast<double>(count);
    return (numbers.floor().cast(DType::I64) + low).minimum(high - 1);
  });
}

}  // namespace tenon
