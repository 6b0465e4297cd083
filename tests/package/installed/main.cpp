// Compiles y = x @ w, runs it, and saves it.
#include <cstdio>

#include "tenon/tenon.h"

int main(int, char** argv) {
  const std::vector<float> weights = {1, 2, 3, 4}, ones = {1, 1};
  tenon::Graph graph;
  const tenon::Value x = graph.input("x", {{tenon::sym::batch(), 2}, tenon::DType::F32});
  const tenon::Value w =
      graph.param("w", {{2, 2}, tenon::DType::F32}, std::as_bytes(std::span(weights)));
  graph.set_outputs({{"y", graph.matmul(x, w)}});
  tenon::CompiledGraph compiled = tenon::Session().compile(graph);
  compiled.save(argv[1]);
  const std::vector<float> y = compiled.run({{"x", tenon::view(ones, {1, 2})}})[0];
  std::printf("%g %g\n", y[0], y[1]);
}
