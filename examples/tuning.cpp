// Tuning: schedules are searched for on this machine, written to a file, and taken by a compile.
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "tenon/tenon.h"

namespace {

std::vector<float> numbers(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = std::sin(static_cast<float>(i * i % 997));
  return values;
}

tenon::Graph model() {
  tenon::Graph g;
  const std::vector<float> weights = numbers(256 * 512);
  const tenon::Value x = g.input("x", {{tenon::sym::batch(), 256}, tenon::DType::F32});
  const tenon::Value w =
      g.param("w", {{256, 512}, tenon::DType::F32}, std::as_bytes(std::span(weights)));
  g.set_outputs({{"y", g.softmax(g.matmul(x, w), -1)}});
  return g;
}

std::vector<float> run(tenon::CompiledGraph graph) {
  const std::vector<float> x = numbers(64 * 256);
  return graph.run({{"x", tenon::view(x, {64, 256})}})[0];
}

}  // namespace

int main() {
  const auto file = std::filesystem::temp_directory_path() / "tenon_example.tuned";
  const tenon::TuningReport report = tenon::Session().tune(
      model(), {.optimizer = tenon::OptStrategy::Beam{4},
                .beam = tenon::BeamConfig{.timeout = 5,
                                          .typical = {{"batch", 64}},
                                          .progress =
                                              [](const tenon::TuningProgress& now) {
                                                std::fprintf(stderr, "%d of %d: %s, %d tried\n",
                                                             now.kernel, now.kernels,
                                                             now.name.c_str(), now.tried);
                                                return true;  // false: stop
                                              }},
                .disk_cache = false});
  std::printf("%s", report.to_string().c_str());
  report.save(file);

  const std::vector<float> by_model = run(tenon::Session().compile(model()));
  const std::vector<float> tuned = run(tenon::Session().compile(model(), {.tuned = file}));
  std::printf("tuned: %s\n", tuned == by_model ? "the same bits" : "other bits");
  std::filesystem::remove(file);
  return 0;
}
