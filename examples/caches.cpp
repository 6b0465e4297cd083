// Compiled graphs in caches: by a key of yours, and by buckets of lengths that were planned from
// the requests there were.
#include <cstdio>

#include "tenon/tenon.h"

namespace {

constexpr int64_t kWidth = 4;

// The mean of the rows of x [rows, 4], and each row less the mean.
tenon::Graph centred(int64_t rows) {
  tenon::Graph g;
  const tenon::Value x =
      g.input("x", {{rows, kWidth}, tenon::DType::F32}, {.bucket_axis = 0});  // see run_padded
  const tenon::Value mean = g.reduce_mean(x, {0});
  g.set_outputs({{"centred", g.sub(x, mean)}, {"mean", mean}});
  return g;
}

std::vector<float> some_rows(int64_t rows) {
  std::vector<float> x(static_cast<size_t>(rows * kWidth));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i / kWidth);  // 0, 1, 2, ...
  return x;
}

// One graph for each shape, the last two of them.
void by_key() {
  tenon::CompileCache cache(tenon::Device::Cpu(), 2);
  for (const int64_t rows : {3, 5, 3, 7}) {
    const uint64_t key = tenon::CompileCache::shape_key(1, rows);
    const bool is_new = !cache.contains(key);
    const tenon::CompiledHandle graph = cache.get_or_compile(key, [&] { return centred(rows); });
    const float mean = graph->run({{"x", some_rows(rows)}})[1][0];
    std::printf("%lld rows: %s, mean %g\n", static_cast<long long>(rows),
                is_new ? "compiled" : "found", mean);
  }
  std::printf("%zu graphs are kept\n", cache.len());
}

// A few graphs for all lengths; each takes the time of the rows it is given.
void by_buckets() {
  const tenon::BucketPlan plan = tenon::plan_buckets({{3, 500}, {5, 200}, {40, 20}, {64, 5}}, 2);
  std::printf("%s", plan.to_string().c_str());
  tenon::BucketedCompileCache cache(tenon::Device::Cpu(), plan.buckets());
  for (const int64_t rows : {3, 5, 50, 65}) {
    const auto ran = cache.run_padded(
        rows, rows, centred, {{.name = "x", .data = some_rows(rows), .inner = kWidth}}, {kWidth});
    if (!ran) {
      std::printf("%lld rows: in no bucket\n", static_cast<long long>(rows));
      continue;
    }
    std::printf("%lld rows in the graph of %lld: %zu floats, mean %g\n",
                static_cast<long long>(rows), static_cast<long long>(ran->upper),
                ran->outputs[0].size(), ran->outputs[1][0]);
  }
  std::printf("%zu of %zu buckets are compiled\n", cache.compiled_count(), cache.total_buckets());
}

}  // namespace

int main() {
  by_key();
  by_buckets();
  return 0;
}
