// The C compiler as the generator uses it: what it cannot do is an error that says so, nothing is
// left behind, and what it makes is self-contained or refused.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "codegen/c/compiler.h"
#include "codegen/c/generate.h"
#include "codegen/object_code.h"
#include "tests/codegen/compiled_kernel.h"

namespace tenon::kernel_test {
namespace {

namespace fs = std::filesystem;
using codegen::Isa;

template <typename Work>
std::string error_of(ErrorKind kind, Work work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

// What a program makes in its temporary folder is made in one of ours, to be counted.
class CCompiler : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("tenon_c_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    setenv("TMPDIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    EXPECT_TRUE(fs::is_empty(folder_));
    unsetenv("TMPDIR");
    fs::remove_all(folder_);
  }

  static program::Code linked(const std::string& source) {
    return codegen::link_object(codegen::c::compile_source("cc", source, Isa::Avx2, "k"), "k");
  }

  fs::path folder_;
};

TEST_F(CCompiler, OneThatIsMissingIsNamed) {
  const auto compile = [](const char* compiler) {
    return error_of(ErrorKind::User,
                    [&] { codegen::c::compile_source(compiler, "", Isa::Avx2, "k"); });
  };
  const std::string message = compile("/nowhere/cc");
  EXPECT_NE(message.find("the C compiler '/nowhere/cc' cannot be run: No such file or directory"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("TENON_CC"), std::string::npos) << message;
  EXPECT_NE(compile("true").find("made no object file"), std::string::npos);
  EXPECT_NE(compile("  ").find("TENON_CC names no compiler"), std::string::npos);
}

TEST_F(CCompiler, WhatItSaysIsPartOfTheError) {
  const std::string message = error_of(ErrorKind::User, [] {
    codegen::c::compile_source("cc", "this is no C;", Isa::Avx512, "gelu");
  });
  EXPECT_NE(message.find("kernel gelu: the C compiler 'cc' failed (1)"), std::string::npos);
  EXPECT_NE(message.find("error:"), std::string::npos) << message;
}

TEST_F(CCompiler, AFolderThatCannotBeMadeIsAnError) {
  setenv("TMPDIR", "/nowhere", 1);
  const std::string message =
      error_of(ErrorKind::User, [] { codegen::c::compile_source("cc", "", Isa::Avx2, "k"); });
  EXPECT_NE(message.find("/nowhere/tenon-"), std::string::npos) << message;
}

TEST_F(CCompiler, SeveralAtOnceMakeTheSame) {
  const kernel::Kernel lowered = kernel::parse(linear_case(33, 40, {}).text);
  const kernel::Kernel k = schedule::schedule(lowered, isas()[0].target).kernel;
  const Digest expected = codegen::c::generate(k, Isa::Avx2)->digest;
  std::vector<std::thread> threads;
  std::atomic<int> same = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(
        [&] { same += codegen::c::generate(k, Isa::Avx2)->digest == expected ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(same, 4);
}

TEST_F(CCompiler, CodeThatIsNotSelfContainedIsRefused) {
  EXPECT_EQ(linked("void tenon_kernel(void) {}").name, "k");
  const auto refused = [](const char* source) {
    return error_of(ErrorKind::Internal, [&] { linked(source); });
  };
  EXPECT_EQ(refused("void other(void) {}"), "kernel k: no function tenon_kernel");
  EXPECT_EQ(refused("void f(void); void tenon_kernel(void) { f(); }"),
            "kernel k: undefined symbol f");
  EXPECT_EQ(refused("static int n = 3; int tenon_kernel(void) { return n++; }"),
            "kernel k: writable section .data");
  EXPECT_EQ(refused("static int n; int tenon_kernel(void) { return n++; }"),
            "kernel k: writable section .bss");
}

TEST_F(CCompiler, AnObjectFileCutShortAnywhereIsAnError) {
  const auto whole = codegen::c::compile_source(
      "cc", "const int table[4] = {1, 2, 3, 4}; int tenon_kernel(int i) { return table[i & 3]; }",
      Isa::Avx2, "k");
  for (size_t size = 0; size < whole.size(); size += size < 128 ? 1 : 13) {
    const std::span<const std::byte> part(whole.data(), size);
    error_of(ErrorKind::Internal, [&] { codegen::link_object(part, "k"); });
  }
}

TEST(Generators, AnUnknownOneIsAnErrorThatListsThem) {
  EXPECT_EQ(error_of(ErrorKind::User, [] { codegen::find_generator("fortran"); }),
            "[codegen] generator \"fortran\" is not known; there are: llvm, c");
  EXPECT_EQ(codegen::find_generator("c").name, "c");
  EXPECT_EQ(codegen::generators()[0].name, "llvm");
}

// Names that C reserves, names with characters it does not know, names that become equal.
TEST(Generators, NamesOfKernelsNeedNotBeNamesOfC) {
  const kernel::Kernel k =
      kernel::parse(R"(kernel copy scheduled dims int: 1..64, x.1: 1..64, x_1: 1..64
  buffer for: f32[int*x.1*x_1] global argument 0
  buffer t1: f32[int*x.1*x_1] global argument 1 written
  thread while in int
    loop p2 in x.1*x_1
      t1[while*x.1*x_1 + p2] = for[while*x.1*x_1 + p2]
)");
  const Extents extents = {{"int", 3}, {"x.1", 2}, {"x_1", 5}};
  for (const Way& way : ways()) {
    if (!runs_here(way)) continue;
    Memory memory = random_memory(k, extents, {0, 0});
    const schedule::Scheduled scheduled{k, {}};
    run_scheduled(scheduled, extents, memory, CompiledSchedule(scheduled, way).runner());
    EXPECT_EQ(memory[0], memory[1]) << way.name;
  }
}

}  // namespace
}  // namespace tenon::kernel_test
