// A C++ function as an op of a graph: a rule that says what it gives, and the function itself,
// which runs between the compiled kernels.
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "tenon/tenon.h"

namespace {

using Types = std::span<const tenon::TensorType>;
using Dims = std::span<const tenon::Dim>;

// scores f32[rows, choices] -> the best of each row, in order: places i64[rows, k] and scores
// f32[rows, k]. k is a Dim: a number, or whatever the extents make it.
tenon::CustomFunction best_of_rows() {
  const auto types = [](Types inputs, Dims dims) {
    const tenon::Shape best = {inputs[0].shape[0], dims[0]};
    return std::vector<tenon::TensorType>{{best, tenon::DType::I64}, {best, tenon::DType::F32}};
  };
  const auto run = [](const tenon::CustomCall& call) {
    const auto scores = call.input<float>(0);
    const auto choices = static_cast<size_t>(call.inputs[0].shape[1]);
    const auto best = static_cast<size_t>(call.dims[0]);
    for (size_t row = 0; row * choices < scores.size(); ++row) {
      const auto of_row = scores.subspan(row * choices, choices);
      const auto places = call.output<int64_t>(0).subspan(row * best, best);
      std::vector<int64_t> all(choices);
      std::iota(all.begin(), all.end(), 0);
      std::ranges::stable_sort(all, std::ranges::greater(),
                               [&](int64_t at) { return of_row[static_cast<size_t>(at)]; });
      std::copy_n(all.begin(), best, places.begin());
      for (size_t i = 0; i < best; ++i)
        call.output<float>(1)[row * best + i] = of_row[static_cast<size_t>(places[i])];
    }
  };
  return {"best_of_rows", types, run};
}

}  // namespace

int main() {
  tenon::Graph g;
  const tenon::Symbol rows("rows", {1, 1024}), choices("choices", {2, 1024});
  const tenon::Value x = g.input("x", {{rows, choices}, tenon::DType::F32});
  const std::vector<tenon::Value> best =
      g.custom(best_of_rows(), {g.mul(x, x)}, {floordiv(tenon::Dim(choices), 2)});
  std::printf("places are %s\n", best[0].type().to_string().c_str());
  g.set_outputs({{"places", best[0]}, {"scores", g.sqrt(best[1])}});

  tenon::CompiledGraph graph = tenon::Session().compile(g);
  const std::vector<float> data = {1, -7, 3, 2, 9, 8, -10, 0};
  for (const int64_t choices : {4, 2}) {
    const auto outputs = graph.run({{"x", tenon::view(data, {8 / choices, choices})}});
    std::printf("%lld choices:", static_cast<long long>(choices));
    for (size_t i = 0; i < outputs[0].size(); ++i)
      std::printf(" %g (%g)", outputs[0][i], outputs[1][i]);
    std::printf("\n");
  }
  try {
    graph.save("custom.tenon");
  } catch (const tenon::Error& error) {
    std::printf("%s\n", error.what());
  }
}
