// `tenon compile`, and what run, bench and show make of the file.
#include "base/cpu_info.h"
#include "codegen/cuda/nvrtc.h"
#include "tests/cli/cli.h"

namespace tenon {
namespace {

constexpr const char* kExtents = " --dim batch=1 --dim seq=8";

class CliArtifact : public Cli {
 protected:
  static bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
};

TEST_F(CliArtifact, CompilesToAFileThatRunsWithoutTheModel) {
  const Outcome compiled =
      tenon("compile " + path("model.onnx") + " --output " + path("model.tenon"));
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  EXPECT_EQ(compiled.out.find(path("model.tenon") + ": "), 0U) << compiled.out;
  const std::string run = " --dim batch=1 --dim seq=8";
  const Outcome direct = tenon("run " + path("model.onnx") + run);
  const Outcome loaded = tenon("run " + path("model.tenon") + run);
  ASSERT_EQ(loaded.code, 0) << loaded.err;
  EXPECT_NE(loaded.err.find("kernels loaded in"), std::string::npos) << loaded.err;
  EXPECT_EQ(loaded.out, direct.out);
  expect_error("run " + path("model.tenon") + " --codegen c", 2, "is compiled: --codegen");
  expect_error("compile " + path("model.onnx"), 2, "--output is required");
}

TEST_F(CliArtifact, ForSeveralCpusRunsTheBestThatIsAllowed) {
  if (detect_cpu({}).isa < CpuIsa::Avx512) {
    expect_error("compile " + path("model.onnx") + " -o x --cpu avx2,avx512", 1,
                 "this CPU has no AVX-512");
    GTEST_SKIP() << "this CPU has no AVX-512";
  }
  const std::string file = path("both.tenon");
  const Outcome compiled =
      tenon("compile " + path("model.onnx") + " -o " + file + " --cpu avx2,avx512");
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  EXPECT_TRUE(says(compiled.err, "for cpu avx2: ")) << compiled.err;
  EXPECT_TRUE(says(compiled.err, "for cpu avx512: ")) << compiled.err;
  const Outcome best = tenon("run " + file + kExtents, "TENON_LOG=info ");
  EXPECT_TRUE(says(best.err, "loaded " + file + " for cpu avx512 in")) << best.err;
  const Outcome capped = tenon("run " + file + kExtents, "TENON_CPU=avx2 TENON_LOG=info ");
  EXPECT_TRUE(says(capped.err, "loaded " + file + " for cpu avx2 in")) << capped.err;
  EXPECT_FALSE(best.out.empty());
  EXPECT_EQ(capped.out, best.out);
}

TEST_F(CliArtifact, SaysWhatTheMachineLacks) {
  if (detect_cpu({}).isa < CpuIsa::Avx512) GTEST_SKIP() << "this CPU has no AVX-512";
  const std::string file = path("wide.tenon");
  ASSERT_EQ(tenon("compile " + path("model.onnx") + " -o " + file + " --cpu avx512").code, 0);
  const Outcome capped = tenon("run " + file, "TENON_CPU=avx2 ");
  EXPECT_EQ(capped.code, 1);
  EXPECT_TRUE(says(capped.err, "cannot run on cpu: it was compiled for cpu avx512; this CPU ("))
      << capped.err;
  EXPECT_TRUE(says(capped.err, ") has avx2\n")) << capped.err;
  expect_error("run " + file + " --device cuda", 1, "");
}

TEST_F(CliArtifact, HasCodeForGpusToo) {
  if (!codegen::cuda::has_nvrtc()) GTEST_SKIP() << "there is no NVRTC";
  const std::string file = path("gpus.tenon");
  const Outcome compiled = tenon("compile " + path("model.onnx") + " -o " + file +
                                 " --cpu avx2 --cuda-arch 80,90 --weights beside");
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  EXPECT_TRUE(says(compiled.err, "for cuda 8.0: ")) << compiled.err;
  EXPECT_TRUE(says(compiled.out, file + ".weights: ")) << compiled.out;
  const Outcome shown = tenon("show " + file);
  ASSERT_EQ(shown.code, 0) << shown.err;
  for (const char* line :
       {"format  4\n", "input   input_ids i64[batch, seq]\n",
        "output  last_hidden_state f32[batch, seq, 64]\n", "extent  batch 1..",
        "beside: ", "target  cpu avx2: ", "target  cuda 8.0: ", "target  cuda 9.0: "})
    EXPECT_TRUE(says(shown.out, line)) << line << "in:\n" << shown.out;
  const Outcome run = tenon("run " + file + kExtents);
  EXPECT_EQ(run.out, tenon("run " + path("model.onnx") + kExtents).out) << run.err;
  std::filesystem::remove(file + ".weights");
  expect_error("run " + file + kExtents, 1, "its weights are beside it, but");
}

TEST_F(CliArtifact, IsShown) {
  const std::string file = path("shown.tenon");
  ASSERT_EQ(tenon("compile " + path("model.onnx") + " -o " + file).code, 0);
  const Outcome shown = tenon("show " + file);
  EXPECT_EQ(shown.out.find("format  4\ninput   input_ids i64[batch, seq]\n"), 0U) << shown.out;
  EXPECT_TRUE(says(shown.out, ", inside\ntarget  cpu ")) << shown.out;
  EXPECT_FALSE(says(shown.out, "prologue"));
  EXPECT_TRUE(says(tenon("show " + file + " --stage program").out, "\nprologue\n"));
  expect_error("show " + file + " --stage lir", 2, "--stage program is what it has");
}

TEST_F(CliArtifact, RefusesTargetsThatMakeNoSense) {
  const std::string compile = "compile " + path("model.onnx") + " -o " + path("never.tenon");
  expect_error(compile + " --cpu avx2,sse", 2, "'sse' is not known; there are: avx2, avx512");
  expect_error(compile + " --cpu avx2,avx2", 2, "--cpu avx2 is given twice");
  expect_error(compile + " --cuda-arch 80,7", 2, "'7' is not a compute capability");
  expect_error(compile + " --weights above", 2, "--weights");
  ASSERT_EQ(tenon("compile " + path("model.onnx") + " -o " + path("once.tenon")).code, 0);
  expect_error("compile " + path("once.tenon") + " -o " + path("never.tenon"), 2, "is compiled");
  EXPECT_FALSE(std::filesystem::exists(path("never.tenon")));
}

TEST_F(CliArtifact, RunsWithoutLlvm) {
  const std::string said = "LLVM is initialized", file = path("plain.tenon");
  const Outcome compiled =
      tenon("compile " + path("model.onnx") + " --codegen llvm -o " + file, "TENON_LOG=debug ");
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  EXPECT_TRUE(says(compiled.err, said)) << compiled.err;
  const Outcome run = tenon("run " + file + kExtents, "TENON_LOG=debug ");
  EXPECT_EQ(run.code, 0);
  EXPECT_TRUE(says(run.err, "loaded ")) << run.err;
  EXPECT_FALSE(says(run.err, said)) << run.err;
}

}  // namespace
}  // namespace tenon
