// Reductions, running sums, and the layers that are made of them.
#include "tests/lazy_cases/ops.h"

namespace tenon::cases {
namespace {

using A = const Arguments&;
using R = Results;

// The axes, then whether they stay.
#define OVER_AXES(name) {#name, [](A a) -> R { return a.x.name(a.list(0), a.flag(0, 1)); }}
#define LESS(name) \
  {#name, [](A a) -> R { return a.x.name(a.list(0), a.flag(0, 1), a.integer(1, 1)); }}
#define ALONG(name) {#name, [](A a) -> R { return a.x.name(a.integer()); }}

constexpr OpRow kOps[] = {
    OVER_AXES(sum),
    OVER_AXES(mean),
    OVER_AXES(max),
    OVER_AXES(min),
    OVER_AXES(prod),
    OVER_AXES(any),
    OVER_AXES(all),
    OVER_AXES(logsumexp),
    LESS(var),
    LESS(std),
    {"sum_of_all", [](A a) -> R { return a.x.sum(); }},
    {"mean_of_all", [](A a) -> R { return a.x.mean(); }},
    {"argmax", [](A a) -> R { return a.x.argmax(a.integer(0), a.flag(1)); }},
    {"argmin", [](A a) -> R { return a.x.argmin(a.integer(0), a.flag(1)); }},
    ALONG(cumsum),
    ALONG(cumprod),
    ALONG(softmax),
    ALONG(log_softmax),
    {"layer_norm", [](A a) -> R { return a.x.layer_norm(a.y, a.z, a.number()); }},
    {"rms_norm", [](A a) -> R { return a.x.rms_norm(a.y, a.number()); }},
    {"batch_norm", [](A a) -> R { return a.x.batch_norm(a.y, a.z, {}, {}, a.number()); }},
    {"batch_norm_scaled",
     [](A a) -> R { return a.x.batch_norm(a.y, a.z, a[3], a[4], a.number()); }},
    {"group_norm", [](A a) -> R { return a.x.group_norm(a.integer(), a.y, a.z, a.number()); }},
};

}  // namespace

std::span<const OpRow> reduction_ops() { return kOps; }

}  // namespace tenon::cases
