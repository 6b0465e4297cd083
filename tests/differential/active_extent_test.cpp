// Random graphs with an axis that is a bucket's: what is derived for every extent is the graph that
// was written for it; programs give its numbers, on CPUs its bits, and leave the other rows alone.
// The graph as it was written, with the extent as a symbol, is the reference; the compiler sees a
// constant. TENON_FUZZ_SEED starts elsewhere, TENON_FUZZ_COUNT sets how many.
#include "types/active_extent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "graph/specialize.h"
#include "tests/differential/random_graph.h"
#include "tests/driver/run_bucket.h"
#include "tests/full.h"
#include "tests/sanitizers.h"

namespace tenon::differential {
namespace {

using graph::Tensor;
using graph_test::RunBucket;
using replay::Case;
using replay::Tensors;

constexpr int64_t kUpper = 23;  // none of the writer's own extents
constexpr const char* kBucket = "s";
constexpr int64_t kMostElements = 1 << 14;

// A graph as it was written, and as it is compiled for a bucket of kUpper rows.
struct Bucket {
  Case written;
  graph::Graph whole;
  graph::BucketAxes marks;

  // For so many rows; User error where there is no such graph.
  Case at(int64_t rows) const {
    Case one = written;
    one.extents[kBucket] = rows;
    one.graph = graph::specialize(written.graph, one.extents);
    one.extents.clear();
    return one;
  }
};

bool is_large(const graph::Graph& g) {
  return std::ranges::any_of(g.topological(), [](const graph::Node* node) {
    const Dim elements = node->types()[0].shape.elements();
    return elements.is_const() && elements.const_value() > kMostElements;
  });
}

// Nothing where an input has the bucket's extent more than once or as part of an expression, which
// marks cannot say, or one as large by chance.
std::optional<Bucket> bucket_of(const Case& written) {
  Bucket bucket{written, {}, {}};
  for (const graph::Value& input : written.graph.inputs()) {
    for (int axis = 0; axis < input.shape().rank(); ++axis) {
      if (const auto symbol = input.shape()[axis].as_symbol(); symbol && symbol->name() == kBucket)
        bucket.marks.emplace(input.node->name(), axis);
    }
  }
  try {
    bucket.whole = bucket.at(kUpper).graph;
    const Case other = bucket.at(kUpper - 1);
    for (size_t i = 0; i < bucket.whole.inputs().size(); ++i) {
      const graph::Value input = bucket.whole.inputs()[i];
      std::vector<Dim> dims = input.shape().dims();
      const auto mark = bucket.marks.find(input.node->name());
      if (mark != bucket.marks.end()) dims[static_cast<size_t>(mark->second)] = kUpper - 1;
      if (std::ranges::find(dims, Dim(kUpper)) != dims.end()) return std::nullopt;
      if (Shape(dims) != other.graph.inputs()[i].shape()) return std::nullopt;
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  if (written.special || is_large(bucket.whole)) return std::nullopt;
  return bucket;
}

struct Ran {
  std::vector<Tensor> outputs;
  bool failed = false;  // by the user's fault
};
template <typename Run>
Ran run_or_fail(const Run& run) {
  try {
    return {run(), false};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::User) throw;
    return {{}, true};
  }
}

// Buckets whose shapes follow from the extent, one after the other.
class Buckets {
 public:
  Buckets() {
    if (const char* first = std::getenv("TENON_FUZZ_SEED")) seed_ = std::strtoull(first, {}, 10);
  }
  struct Next {
    Bucket bucket;
    graph::Graph derived;
    uint64_t seed;
  };
  Next next() {
    for (;;) {
      const uint64_t seed = seed_++;
      GraphWriter writer(seed);
      auto bucket = bucket_of(writer.write(static_cast<int>(writer.number(2, 25))));
      if (!bucket) continue;
      graph::ActiveGraph active = graph::with_active_extent(bucket->whole, bucket->marks);
      if (active.report.fallback.empty())
        return {std::move(*bucket), std::move(active.graph), seed};
      ++fell_back_;
    }
  }
  int fell_back() const { return fell_back_; }

 private:
  uint64_t seed_ = 1;
  int fell_back_ = 0;
};

int count_of(int few, int many) {
  if (const char* text = std::getenv("TENON_FUZZ_COUNT")) return std::atoi(text);
  return full_tests() ? many : few;
}

TEST(RandomBuckets, AreDerivedAsTheyWereWritten) {
  Buckets buckets;
  const int count = count_of(TENON_ADDRESS_SANITIZER ? 20 : 150, 5000);
  for (int i = 0; i < count; ++i) {
    const auto [bucket, derived, seed] = buckets.next();
    for (const int64_t rows : {int64_t{1}, int64_t{5}, kUpper}) {
      const Ran exists = run_or_fail([&] { return bucket.at(rows), std::vector<Tensor>(); });
      if (exists.failed) continue;
      const Case one = bucket.at(rows);
      const Tensors inputs = replay::inputs_of(one);
      const graph::Graph special = graph::specialize(derived, {{std::string(kActiveExtent), rows}});
      const Ran want = run_or_fail([&] { return graph::interpret(one.graph, inputs); });
      const Ran got = run_or_fail([&] { return graph::interpret(special, inputs); });
      ASSERT_EQ(got.failed, want.failed) << "seed " << seed << " at " << rows;
      for (size_t k = 0; k < want.outputs.size(); ++k) {
        EXPECT_EQ(got.outputs[k].shape, want.outputs[k].shape) << "seed " << seed << " at " << rows;
        EXPECT_EQ(got.outputs[k].bytes, want.outputs[k].bytes)
            << "seed " << seed << " at " << rows << "\n"
            << print(one.graph) << "\n"
            << print(special);
      }
    }
  }
  EXPECT_LT(buckets.fell_back(), count * 2);  // most graphs are worth their test
}

// Inputs with room for all rows: what lies past the active ones must not matter.
Tensors with_all_rows(const Tensors& inputs, const Bucket& bucket) {
  Tensors result = inputs;
  for (const auto& [name, axis] : bucket.marks) {
    const Tensor& part = inputs.at(name);
    Tensor& whole = result.at(name);
    whole.shape[static_cast<size_t>(axis)] = kUpper;
    whole.bytes.assign(
        static_cast<size_t>(whole.elements() * static_cast<int64_t>(size_of(whole.dtype))),
        std::byte{0xff});
    runtime::IoView to{whole.bytes.data(), whole.dtype, part.shape, whole.shape};
    runtime::copy_dense(part.bytes.data(), to);
  }
  return result;
}

void expect_as_written(program::DeviceKind device, int count) {
  Buckets buckets;
  for (int i = 0; i < count; ++i) {
    const auto [bucket, derived, seed] = buckets.next();
    RunBucket program(bucket.whole, bucket.marks, device);
    ASSERT_EQ(program.report().fallback, "") << "seed " << seed;
    const Tensors all = replay::inputs_of(bucket.at(kUpper));
    std::vector<Tensor> before =
        run_or_fail([&] { return program.run(all); }).outputs;  // every output is warm
    if (before.empty()) continue;
    for (const int64_t rows : {int64_t{5}, int64_t{1}}) {
      const std::string where = fmt::format("seed {} at {}", seed, rows);
      const Ran exists = run_or_fail([&] { return bucket.at(rows), std::vector<Tensor>(); });
      if (exists.failed) continue;
      const Case one = bucket.at(rows);
      const Tensors inputs = replay::inputs_of(one);
      RunBucket small(one.graph, {}, device);
      const Ran want = run_or_fail([&] { return small.run(inputs); });
      program.set(rows);
      const Ran got = run_or_fail([&] { return program.run(with_all_rows(inputs, bucket)); });
      ASSERT_EQ(got.failed, want.failed) << where;
      if (got.failed) break;  // what is in the outputs then is not said
      for (size_t k = 0; k < want.outputs.size(); ++k) {
        const bool late = got.outputs[k].shape != before[k].shape;  // as long as the run found
        const double share = graph_test::share_of(device, want.outputs[k].dtype);
        EXPECT_EQ(graph_test::difference(got.outputs[k], want.outputs[k],
                                         late ? got.outputs[k] : before[k], share),
                  "")
            << where << " output " << k << "\n"
            << print(one.graph);
      }
      before = got.outputs;
    }
  }
}

TEST(RandomBuckets, RunAsAGraphForTheirRowsOnACpu) {
  expect_as_written(program::DeviceKind::Cpu, count_of(TENON_ADDRESS_SANITIZER ? 4 : 40, 1500));
}

TEST(RandomBuckets, RunAsAGraphForTheirRowsOnAGpu) {
  expect_as_written(program::DeviceKind::EmulatedGpu,
                    count_of(TENON_ADDRESS_SANITIZER ? 2 : 15, 300));
}

}  // namespace
}  // namespace tenon::differential
