// Tensors made of nothing.
#include "tests/lazy_cases/ops.h"

namespace tenon::cases {
namespace {

using A = const Arguments&;
using R = Results;

Extents shape(A a) { return {a.list().begin(), a.list().end()}; }

constexpr OpRow kOps[] = {
    {"scalar", [](A a) -> R { return Tensor::scalar(a.number(), a.dtype()); }},
    {"full", [](A a) -> R { return Tensor::full(shape(a), a.number(), a.dtype()); }},
    {"full_integer", [](A a) -> R { return Tensor::full(shape(a), a.integer(0, 1), a.dtype()); }},
    {"zeros", [](A a) -> R { return Tensor::zeros(shape(a), a.dtype()); }},
    {"ones", [](A a) -> R { return Tensor::ones(shape(a), a.dtype()); }},
    {"ones_like", [](A a) -> R { return Tensor::ones(a.extents, a.x.dtype()); }},
    {"count", [](A a) -> R { return Tensor::arange(a.integer()); }},
    {"count_rows", [](A a) -> R { return Tensor::arange(a.extents[0]); }},
    {"arange",
     [](A a) -> R { return Tensor::arange(a.number(0), a.number(1), a.number(2), a.dtype()); }},
    {"linspace",
     [](A a) -> R { return Tensor::linspace(a.number(0), a.number(1), a.integer(), a.dtype()); }},
    {"eye", [](A a) -> R { return Tensor::eye(a.integer(0), a.integer(1), a.dtype()); }},
};

}  // namespace

std::span<const OpRow> creation_ops() { return kOps; }

}  // namespace tenon::cases
