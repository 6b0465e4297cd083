// Look-ups, scatters, sorting.
#include "tests/lazy_cases/ops.h"

namespace tenon::cases {
namespace {

using A = const Arguments&;
using R = Results;

R both(const TopK& top) { return std::vector<Tensor>{top.values, top.indices}; }

constexpr OpRow kOps[] = {
    {"take", [](A a) -> R { return a.x.take(a.y, a.integer()); }},
    {"gather", [](A a) -> R { return a.x.gather(a.y, a.integer()); }},
    {"scatter", [](A a) -> R { return a.x.scatter(a.y, a.z, a.integer()); }},
    {"scatter_add", [](A a) -> R { return a.x.scatter_add(a.y, a.z, a.integer()); }},
    {"one_hot", [](A a) -> R { return a.x.one_hot(a.integer(), a.dtype()); }},
    {"sort", [](A a) -> R { return a.x.sort(a.integer(0), a.flag(1)); }},
    {"argsort", [](A a) -> R { return a.x.argsort(a.integer(0), a.flag(1)); }},
    {"topk", [](A a) -> R { return both(a.x.topk(a.integer(0), a.integer(1), a.flag(2))); }},
};

}  // namespace

std::span<const OpRow> position_ops() { return kOps; }

}  // namespace tenon::cases
