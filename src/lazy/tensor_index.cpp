// Look-ups, scatters and sorting of tensors.
#include "base/error.h"
#include "lazy/apply.h"

namespace tenon {
namespace {

using graph::Op;
using lazy::apply;
using lazy::named;
using lazy::wrap_axis;

Tensor checked(const char* call, const Tensor& indices) {
  const DTypeKind kind = info(indices.dtype()).kind;
  if (kind != DTypeKind::Signed && kind != DTypeKind::Unsigned)
    throw user_error("[{}] positions are integers, not {}", call, indices.type().to_string());
  return indices.dtype() == DType::I32 ? indices : indices.cast(DType::I64);
}

Tensor scattered(const char* call, const char* how, const Tensor& x, const Tensor& indices,
                 const Tensor& updates, int64_t axis) {
  return apply(Op::ScatterElements, {x, checked(call, indices), updates.cast(x.dtype())},
               {{"axis", wrap_axis(call, axis, x)}, {"reduction", how}});
}

TopK top(const char* call, const Tensor& x, const Extent& count, int64_t axis, bool largest) {
  auto results = lazy::apply_all(Op::TopK, {x, lazy::dim(count)},
                                 {{"axis", wrap_axis(call, axis, x)},
                                  {"largest", int64_t{largest}},
                                  {"count", std::vector<Dim>{count.dim()}}},
                                 count.values());
  return {results[0], results[1]};
}

TopK sorted(const char* call, const Tensor& x, int64_t axis, bool descending) {
  if (x.rank() == 0) throw user_error("[{}] needs an axis: {}", call, x.type().to_string());
  const int64_t at = wrap_axis(call, axis, x);
  return top(call, x, Extent(x.shape()[static_cast<int>(at)]), at, descending);
}

}  // namespace

Tensor Tensor::take(const Tensor& indices, int64_t axis) const {
  return named("take", [&] {
    return apply(Op::Gather, {*this, checked("take", indices)},
                 {{"axis", wrap_axis("take", axis, *this)}});
  });
}

Tensor Tensor::gather(const Tensor& indices, int64_t axis) const {
  return named("gather", [&] {
    return apply(Op::GatherElements, {*this, checked("gather", indices)},
                 {{"axis", wrap_axis("gather", axis, *this)}});
  });
}

Tensor Tensor::scatter(const Tensor& indices, const Tensor& updates, int64_t axis) const {
  return named("scatter",
               [&] { return scattered("scatter", "none", *this, indices, updates, axis); });
}

Tensor Tensor::scatter_add(const Tensor& indices, const Tensor& updates, int64_t axis) const {
  return named("scatter_add",
               [&] { return scattered("scatter_add", "add", *this, indices, updates, axis); });
}

Tensor Tensor::one_hot(int64_t classes, DType dtype) const {
  return named("one_hot", [&] {
    if (classes < 1) throw user_error("[one_hot] {} classes", classes);
    return (checked("one_hot", *this).cast(DType::I64).unsqueeze(-1) == arange(Extent(classes)))
        .cast(dtype);
  });
}

Tensor Tensor::sort(int64_t axis, bool descending) const {
  return named("sort", [&] { return sorted("sort", *this, axis, descending).values; });
}
Tensor Tensor::argsort(int64_t axis, bool descending) const {
  return named("argsort", [&] { return sorted("argsort", *this, axis, descending).indices; });
}
TopK Tensor::topk(int64_t count, int64_t axis, bool largest) const {
  return named("topk", [&] {
    if (count < 0) throw user_error("[topk] {} elements", count);
    return top("topk", *this, Extent(count), axis, largest);
  });
}

}  // namespace tenon
