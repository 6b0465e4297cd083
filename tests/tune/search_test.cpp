// The search: every candidate is new and gives the same bits, what cannot be run is dropped, and
// the default stays where nothing beats it by the margin. Times are the machine's: what is expected
// holds whatever they are.
#include "tune/search.h"

#include <map>
#include <set>

#include "base/error.h"
#include "tests/tune/lowered.h"

namespace tenon::tune {
namespace {

struct Trial {
  BeamConfig config{.timeout = 5};
  int width = 2;
  std::set<std::string> compiled;  // canonical texts
  std::function<kernel::Kernel(const kernel::Kernel&)> change;
  std::function<bool(int)> go_on = [](int) { return true; };

  std::map<std::string, Found> run(const graph::Graph& graph) {
    std::map<std::string, Found> found;
    with_lowered(graph, [&](const driver::LoweredKernels& lowered) {
      const Extents extents = timed_extents(lowered, {{"m", 40}}).take();
      for (const kernel::Kernel& kernel : lowered.kernels) {
        const auto compile =
            [&](const kernel::Kernel& each) -> Result<std::shared_ptr<const program::Code>> {
          EXPECT_TRUE(compiled.insert(kernel::canonical_text(each)).second);
          return lowered.backend.generate(change ? change(each) : each);
        };
        const auto progress = [&](int tried, double default_ms, double best_ms) {
          EXPECT_LE(best_ms, default_ms);
          return go_on(tried);
        };
        const SearchOptions options{.width = width,
                                    .config = config,
                                    .threads = 1,
                                    .compile = compile,
                                    .progress = progress};
        found[kernel.name] = search(kernel, lowered.backend, extents, options);
      }
    });
    return found;
  }
};

TEST(Search, TriesEachScheduleOnce) {
  Trial trial;
  const auto found = trial.run(linear_and_sum());
  EXPECT_EQ(found.size(), 2U);
  size_t candidates = 0;
  for (const auto& [name, each] : found) {
    EXPECT_GT(each.candidates, 0) << name;
    EXPECT_EQ(each.dropped, 0) << name;
    EXPECT_GT(each.default_ms, 0);
    EXPECT_EQ(each.choice.values.empty(), each.default_ms == each.tuned_ms);
    candidates += static_cast<size_t>(each.candidates);
  }
  EXPECT_EQ(candidates, trial.compiled.size());
}

TEST(Search, KeepsTheDefaultThatIsNotBeatenByTheMargin) {
  Trial trial{.config = {.timeout = 5, .margin = 1e9}};
  for (const auto& [name, each] : trial.run(linear_and_sum())) {
    EXPECT_TRUE(each.choice.values.empty()) << name;
    EXPECT_EQ(each.default_ms, each.tuned_ms);
  }
}

TEST(Search, DropsWhatIsTooMuchCode) {
  Trial trial{.config = {.timeout = 5, .max_ops = 1}};
  for (const auto& [name, each] : trial.run(linear_and_sum())) {
    EXPECT_EQ(each.candidates, 0) << name;
    EXPECT_GT(each.dropped, 0) << name;
    EXPECT_TRUE(each.choice.values.empty());
  }
  EXPECT_TRUE(trial.compiled.empty());
}

TEST(Search, DropsWhatTakesTooLongToCompile) {
  Trial trial{.config = {.timeout = 5, .compile_timeout = 0}};
  for (const auto& [name, each] : trial.run(linear_and_sum())) {
    EXPECT_EQ(each.candidates, 0) << name;
    EXPECT_GT(each.dropped, 0) << name;
  }
}

TEST(Search, DropsWhatCannotBeCompiled) {
  Trial trial;
  with_lowered(linear_and_sum(), [&](const driver::LoweredKernels& lowered) {
    const Extents extents = timed_extents(lowered, {{"m", 40}}).take();
    const SearchOptions options{
        .config = trial.config,
        .compile = [](const kernel::Kernel&) -> Result<std::shared_ptr<const program::Code>> {
          return user_error("no");
        },
        .progress = [](int, double, double) { return true; }};
    const Found found = search(lowered.kernels[0], lowered.backend, extents, options);
    EXPECT_EQ(found.candidates, 0);
    EXPECT_GT(found.dropped, 0);
    EXPECT_TRUE(found.choice.values.empty());
  });
}

// Sums begin at 1 instead of 0.
kernel::Kernel off_by_one(const kernel::Kernel& right) {
  kernel::Kernel wrong = right;
  wrong.body = kernel::transform_exprs(right.body, [](const kernel::ExprRef& value) {
    const bool is_zero = value->dtype == DType::F32 && value->op == kernel::Op::Const;
    return is_zero ? kernel::f32(value->value + 1) : value;
  });
  return wrong;
}

TEST(Search, DropsWhatGivesOtherBits) {
  Trial trial;
  trial.change = off_by_one;
  graph::Graph g;
  const auto x = g.input("x", {{Symbol("m"), 64}, DType::F32});
  g.set_outputs({{"y", g.relu(g.matmul(x, g.param("w", {{64, 96}, DType::F32})))}});
  for (const auto& [name, each] : trial.run(g)) {
    EXPECT_EQ(each.dropped, each.candidates) << name;
    EXPECT_TRUE(each.choice.values.empty());
  }
}

TEST(Search, StopsWhenItIsAskedTo) {
  Trial trial;
  trial.go_on = [](int tried) { return tried < 3; };
  for (const auto& [name, each] : trial.run(linear_and_sum())) {
    EXPECT_TRUE(each.stopped || each.candidates < 3) << name;
    EXPECT_LE(each.candidates, 3) << name;
  }
}

TEST(Search, EndsWhenItsTimeIsUp) {
  Trial trial{.config = {.timeout = 1e-9}};
  for (const auto& [name, each] : trial.run(linear_and_sum())) {
    EXPECT_EQ(each.candidates, 0) << name;
    EXPECT_FALSE(each.stopped);
    EXPECT_GT(each.default_ms, 0);
  }
}

// Indices beyond an axis are faults: they are 0 where no others do.
TEST(Search, RunsKernelsThatLookUpIndices) {
  graph::Graph g;
  const auto table = g.param("table", {{1, 64}, DType::F32});
  const auto rows = g.input("rows", {{Symbol("m")}, DType::I64});
  g.set_outputs({{"y", g.gather(table, rows, 0)}});
  for (const auto& [name, each] : Trial().run(g)) EXPECT_GT(each.default_ms, 0) << name;
}

}  // namespace
}  // namespace tenon::tune
