// Compiling in another process: the same code, and this process goes on whatever becomes of that
// one. It is this program, started again: see main.cpp.
#include "tune/compile_helper.h"

#include <gtest/gtest.h>

#include "tests/tune/lowered.h"

namespace tenon::tune {
namespace {

std::vector<std::string> command(const std::string& behaviour) {
  return {"/proc/self/exe", "--helper", behaviour};
}

// Kernels of the graph as they are scheduled, and what compiles them here.
void with_scheduled(const std::function<void(const kernel::Kernel&, const driver::Backend&)>& use) {
  with_lowered(linear_and_sum(), [&](const driver::LoweredKernels& lowered) {
    for (const kernel::Kernel& kernel : lowered.kernels)
      use(lowered.backend.schedule(kernel, {}).kernel, lowered.backend);
  });
}

TEST(CompileHelper, MakesTheCodeThatThisProcessMakes) {
  CompileHelper helper(command("serves"), 60);
  with_scheduled([&](const kernel::Kernel& kernel, const driver::Backend& backend) {
    const auto code = helper.compile(kernel).take();
    const auto expected = backend.generate(kernel);
    EXPECT_EQ(code->bytes, expected->bytes);
    EXPECT_EQ(code->entry, expected->entry);
    EXPECT_EQ(code->digest, expected->digest);
    EXPECT_EQ(code->name, expected->name);
  });
}

// Also of the second kernel: what is gone is started again.
void expect_failures(CompileHelper helper, const std::string& message) {
  with_scheduled([&](const kernel::Kernel& kernel, const driver::Backend&) {
    const auto code = helper.compile(kernel);
    ASSERT_FALSE(code.ok());
    EXPECT_EQ(code.error().what(), message);
  });
}

TEST(CompileHelper, MayDie) {
  expect_failures(CompileHelper(command("dies"), 60), "[tune] the compiler died");
}

TEST(CompileHelper, ThatTakesTooLongIsEnded) {
  expect_failures(CompileHelper(command("hangs"), 0.2), "[tune] compiling took longer than 0.2 s");
}

TEST(CompileHelper, ThatIsNotThereIsAnError) {
  expect_failures(CompileHelper({"/nowhere/tenon"}, 60),
                  "[tune] /nowhere/tenon cannot be run: No such file or directory");
}

TEST(CompileHelper, SaysWhatIsWrongWithAKernelAndGoesOn) {
  CompileHelper helper(command("serves"), 60);
  with_scheduled([&](const kernel::Kernel& kernel, const driver::Backend&) {
    kernel::Kernel wrong = kernel;
    wrong.body.push_back({kernel::Barrier{}});  // of GPUs
    EXPECT_FALSE(helper.compile(wrong).ok());
    EXPECT_TRUE(helper.compile(kernel).ok());
  });
}

}  // namespace
}  // namespace tenon::tune
