// A model that was compiled once is read from disk by every later process, and its weights are
// still the model's own.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <vector>

#include "tenon/tenon.h"

// y = relu(x @ w), for any number of rows.
static tenon::Graph model(const std::vector<float>& weights) {
  tenon::Graph g;
  const tenon::Value x = g.input("x", {{tenon::sym::batch(), 2}, tenon::DType::F32});
  const tenon::Value w =
      g.param("w", {{2, 2}, tenon::DType::F32}, std::as_bytes(std::span(weights)));
  g.set_outputs({{"y", g.relu(g.matmul(x, w))}});
  return g;
}

int main() {
  const auto folder = std::filesystem::temp_directory_path() / "tenon_example_cache";
  std::filesystem::remove_all(folder);
  const std::vector<float> x = {1, 2};

  // The first one compiles, as in a process that starts cold.
  tenon::CompiledGraph first = tenon::AotCache(folder).compile(model({1, 0, 0, 1}));
  std::printf("from disk: %d\n", first.stats().from_disk);

  // The next one finds it: other weights are no other code.
  tenon::AotCache cache(folder);
  tenon::CompiledGraph next = cache.compile(model({2, 0, 0, 3}));
  const auto y = next.run({{"x", tenon::view(x, {1, 2})}})[0];
  std::printf("from disk: %d, y = %g %g\n", next.stats().from_disk, y[0], y[1]);
  if (first.stats().from_disk || !next.stats().from_disk || y != std::vector<float>{2, 6}) return 1;

  // Other options are other code: `why` says which differ from the nearest entry.
  const tenon::CompileOptions plain{.optimizer = tenon::OptStrategy::Plain{}};
  for (const auto& difference : cache.why(model({1, 0, 0, 1}), plain).differences)
    std::printf("%s: wanted %s, kept %s\n", difference.field.c_str(), difference.wanted.c_str(),
                difference.kept.c_str());

  for (const tenon::AotCache::Entry& entry : cache.entries())
    std::printf("%s -> %s\n", entry.value("inputs").c_str(), entry.value("outputs").c_str());
  std::printf("%zu damaged, usable: %d, in %s\n", cache.verify().size(), cache.usable(),
              cache.folder().c_str());
  cache.clear();
  std::filesystem::remove_all(folder);
  return 0;
}
