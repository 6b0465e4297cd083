#include "graph/iota.h"

#include <numeric>

namespace tenon::graph {

Value iota(Graph& g, const Dim& count) {
  if (count.is_const() && count.const_value() * 8 <= kConstantLimit) {
    std::vector<int64_t> numbers(static_cast<size_t>(count.const_value()));
    std::iota(numbers.begin(), numbers.end(), 0);
    return g.integers(std::move(numbers));
  }
  return g.apply(Op::Range, {g.dims({0}, true), g.dims({count}, true), g.dims({1}, true)},
                 {{"shape", std::vector<Dim>{count}}});
}

}  // namespace tenon::graph
