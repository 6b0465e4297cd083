// The tuner: what was found is taken, from a file or from the store; only the rest is searched.
#include "tune/tuner.h"

#include <fstream>

#include "base/error.h"
#include "tests/error_of.h"
#include "tests/temp_file.h"
#include "tests/tune/lowered.h"

namespace tenon::tune {
namespace {

BeamConfig quick() { return {.timeout = 1, .typical = {{"m", 20}}}; }

class TunerTest : public ::testing::Test {
 protected:
  TuningReport tune(TunerOptions options, const driver::Options& how = options_here()) const {
    Tuner tuner(std::move(options), how);
    with_lowered(linear_and_sum(),
                 [&](const driver::LoweredKernels& lowered) { choices_ = tuner.choose(lowered); });
    return tuner.report();
  }

  const TempFile folder_{".store"};
  cache::DiskStore store_{{.folder = folder_.path()}};
  mutable std::vector<schedule::Choice> choices_;
};

// A line that holds for the first kernel here, with a choice that the model does not make.
Record record_for(const std::string& choice) {
  Record record;
  with_lowered(linear_and_sum(), [&](const driver::LoweredKernels& lowered) {
    record = {.kernel = digest_of(kernel::canonical_text(lowered.kernels[0])).hex(),
              .target = target_text(options_here(), threads_of(0)),
              .default_ms = 2,
              .tuned_ms = 1,
              .name = "linear",
              .choice = schedule::Choice::parse(choice).value()};
  });
  return record;
}

TEST_F(TunerTest, SearchesOnceForEachKernel) {
  const TuningReport first = tune({.width = 1, .config = quick(), .store = &store_});
  ASSERT_EQ(first.kernels.size(), 2U);
  const auto chosen = choices_;
  EXPECT_EQ(first.extents, (DimBinding{{"m", 20}}));
  const TuningReport again = tune({.width = 1, .config = quick(), .store = &store_});
  ASSERT_EQ(again.kernels.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_FALSE(first.kernels[i].found);
    EXPECT_TRUE(again.kernels[i].found);
    EXPECT_EQ(again.kernels[i].candidates, 0);
    EXPECT_EQ(again.kernels[i].choice, first.kernels[i].choice);
  }
  EXPECT_EQ(choices_, chosen);
  EXPECT_EQ(again.schedules, first.schedules);
}

TEST_F(TunerTest, SearchesAnewForOtherExtentsWidthsAndThreads) {
  tune({.width = 1, .config = quick(), .threads = 1, .store = &store_});
  BeamConfig other = quick();
  other.typical = {{"m", 21}};
  EXPECT_FALSE(
      tune({.width = 1, .config = other, .threads = 1, .store = &store_}).kernels[0].found);
  EXPECT_FALSE(
      tune({.width = 2, .config = quick(), .threads = 1, .store = &store_}).kernels[0].found);
  EXPECT_EQ(tune({.width = 1, .config = quick(), .threads = 2, .store = &store_}).kernels[0].found,
            threads_of(2) == 1);
}

TEST_F(TunerTest, GoesOnWhereItWasStopped) {
  BeamConfig stops = quick();
  stops.progress = [](const TuningProgress& now) {
    EXPECT_EQ(now.kernels, 2);
    return now.kernel == 1;
  };
  EXPECT_EQ(user_error_of([&] { tune({.width = 1, .config = stops, .store = &store_}); }),
            "[tune] stopped at kernel 2 of 2: those before it are tuned");
  const TuningReport report = tune({.width = 1, .config = quick(), .store = &store_});
  ASSERT_EQ(report.kernels.size(), 2U);
  EXPECT_TRUE(report.kernels[0].found);
  EXPECT_FALSE(report.kernels[1].found);
}

TEST_F(TunerTest, TakesTheLinesOfAFileThatHoldHere) {
  const TempFile file(".tuned");
  const Record here = record_for("row_block=24");
  Record elsewhere = here;
  elsewhere.target = "avx9";
  elsewhere.choice = {};
  std::ofstream(file.path()) << print(std::vector{here, elsewhere});
  const TuningReport report = tune({.tuned = file.path()});
  ASSERT_EQ(report.kernels.size(), 1U);
  EXPECT_TRUE(report.kernels[0].found);
  EXPECT_EQ(choices_[0], here.choice);
  EXPECT_EQ(choices_[1], schedule::Choice());
  // And searches for the others, where it is asked to.
  const TuningReport all = tune({.width = 1, .config = quick(), .tuned = file.path()});
  ASSERT_EQ(all.kernels.size(), 2U);
  EXPECT_FALSE(all.kernels[1].found);
  EXPECT_EQ(choices_[0], here.choice);
}

TEST_F(TunerTest, LeavesOutLinesForOtherKernelsAndChoicesThatAreNotLegal) {
  const TempFile file(".tuned");
  Record other = record_for("row_block=24");
  other.kernel.assign(64, '0');
  std::ofstream(file.path()) << print(std::vector{other});
  EXPECT_TRUE(tune({.tuned = file.path()}).kernels.empty());
  std::ofstream(file.path()) << print(std::vector{record_for("row_block=23 square=7")});
  driver::Options options = options_here();
  use_tuner(options, {.tuned = file.path()});
  EXPECT_EQ(plan(linear_and_sum(), options).steps[0].grid,
            plan(linear_and_sum(), options_here()).steps[0].grid);
}

TEST_F(TunerTest, ChangesThePlan) {
  const TempFile file(".tuned");
  driver::Options options = options_here();
  const int64_t rows = cpu_info().isa == CpuIsa::Avx512 ? 32 : 24;  // four tiles
  std::ofstream(file.path()) << print(
      std::vector{record_for(fmt::format("row_block={} column_groups=1", rows))});
  use_tuner(options, {.tuned = file.path()});
  EXPECT_EQ(plan(linear_and_sum(), options).steps[0].grid, ceildiv(Dim(Symbol("m")), rows));
}

TEST_F(TunerTest, DropsADamagedEntryOfTheStore) {
  const TuningReport first = tune({.width = 1, .config = quick(), .store = &store_});
  for (const auto& entry : store_.entries()) {  // as another version might have left it
    store_.erase(entry.key);
    store_.get_or_make(entry.key, [] { return std::vector<std::byte>(7, std::byte{'x'}); });
  }
  const TuningReport again = tune({.width = 1, .config = quick(), .store = &store_});
  ASSERT_EQ(again.kernels.size(), first.kernels.size());
  EXPECT_FALSE(again.kernels[0].found);
}

TEST_F(TunerTest, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(user_error_of([&] { tune({.tuned = "/nowhere/x"}); }),
            "[tune] /nowhere/x cannot be read");
}

TEST_F(TunerTest, SaysWhereThereIsNoHelper) {
  BeamConfig config = quick();
  config.helper = "/nowhere/helper";
  EXPECT_EQ(user_error_of([&] { tune({.width = 1, .config = config}); }),
            "[tune] /nowhere/helper cannot be run: No such file or directory");
}

TEST(Beam, NeedsATuner) {
  driver::Options options = options_here();
  options.optimizer = OptStrategy::Beam{2};
  EXPECT_EQ(error_of([&] { driver::Pipeline{options}; }, ErrorKind::Unsupported),
            "[compile] optimizer beam:2 is for CPUs and for sessions, the device is cpu");
}

}  // namespace
}  // namespace tenon::tune
