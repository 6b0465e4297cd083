// Random graphs before and after they were specialized: the same bits, whatever their kernels.
// TENON_FUZZ_SEED starts elsewhere, TENON_FUZZ_COUNT sets how many.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"
#include "base/thread_pool.h"
#include "compiled/specializer.h"
#include "driver/pipeline.h"
#include "driver/specialize_kernels.h"
#include "kernel/fix_dims.h"
#include "runtime/executor.h"
#include "runtime/run_owned.h"
#include "tests/differential/random_graph.h"
#include "tests/full.h"
#include "tests/sanitizers.h"

namespace tenon::differential {
namespace {

using replay::Case;
using replay::Tensors;
using Outputs = std::vector<runtime::OwnedOutput>;

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::atoll(text) : otherwise;
}

// A graph with a specializer that is asked at the first run of a shape.
class Special {
 public:
  explicit Special(const graph::Graph& graph) {
    const driver::Options options{.cpu = cpu_info(), .keep_kernels = true};
    driver::Compiled compiled = driver::compile(graph, options);
    program_ = std::make_shared<const program::Program>(std::move(compiled.program));
    executor_ = runtime::Executor::load(program_, thread_pool()).take();
    if (!compiled::why_not_special(*program_).empty()) return;
    const auto compiler = std::make_shared<driver::KernelSpecializer>(compiled.scheduled, options);
    const auto make = [compiler, kernels = std::move(compiled.scheduled)](
                          int kernel, std::span<const int64_t> dims) {
      compiled::SpecialCode special;
      special.code = compiler->generate(kernel, dims, special.compiled);
      if (special.code)
        kernel::verify(kernel::fix_dims(kernels[static_cast<size_t>(kernel)].kernel, dims));
      return special;
    };
    specializer_ = std::make_shared<compiled::Specializer>(
        program_, executor_->code(), Specialization{.after = 1, .cpu_share = 1}, make);
    executor_->use_variants(specializer_);
  }

  bool is_possible() const { return specializer_ != nullptr; }
  const compiled::Specializer& specializer() const { return *specializer_; }

  Outputs run(const Tensors& inputs) {
    for (const program::ParamSlot& param : program_->params) {
      const auto found = inputs.find(param.name);
      if (found == inputs.end()) continue;
      const graph::Tensor& t = found->second;
      executor_->set_param(param.name, t.dtype, t.shape, t.bytes.data()).throw_if_error();
    }
    std::vector<runtime::IoView> views;
    for (const program::IoSlot& slot : program_->inputs) {
      const graph::Tensor& t = inputs.at(slot.name);
      views.push_back({const_cast<std::byte*>(t.bytes.data()), t.dtype, t.shape, {}});
    }
    return runtime::run_owned(*executor_, views).take();
  }

 private:
  std::shared_ptr<const program::Program> program_;
  std::unique_ptr<runtime::Executor> executor_;
  std::shared_ptr<compiled::Specializer> specializer_;
};

TEST(RandomGraphs, GiveTheSameBitsWhenTheyAreSpecialized) {
  const int64_t first = setting("TENON_FUZZ_SEED", 1);
  const int64_t few = TENON_ADDRESS_SANITIZER ? 5 : 40;
  const int64_t count = setting("TENON_FUZZ_COUNT", full_tests() ? 2000 : few);
  int compared = 0;
  for (int64_t seed = first; seed < first + count; ++seed) {
    GraphWriter writer(static_cast<uint64_t>(seed));
    const Case one = writer.write(static_cast<int>(writer.number(2, 40)));
    Special special(one.graph);
    if (!special.is_possible()) continue;
    for (const Case& each : {one, writer.again(one)}) {
      const Tensors inputs = replay::inputs_of(each);
      Outputs before;
      try {
        before = special.run(inputs);
      } catch (const Error&) {  // its index, say
        continue;
      }
      special.specializer().wait();
      ASSERT_EQ(special.specializer().stats().failed, 0) << "seed " << seed;
      ASSERT_GT(special.specializer().stats().shapes, 0) << "seed " << seed;
      const Outputs after = special.run(inputs);
      for (size_t i = 0; i < before.size(); ++i)
        EXPECT_TRUE(before[i].bytes == after[i].bytes) << "seed " << seed << " output " << i << "\n"
                                                       << graph::print(one.graph);
      ++compared;
    }
  }
  EXPECT_GT(compared, count / 4);
}

}  // namespace
}  // namespace tenon::differential
