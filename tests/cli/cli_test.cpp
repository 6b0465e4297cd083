// The command line as a user meets it: exit codes, one-line errors that list what exists, files and
// JSON it writes. A small encoder stands for the model.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "api/npy.h"
#include "tools/make_encoder/encoder_model.h"
#include "types/dtype.h"

namespace tenon {
namespace {

struct Outcome {
  int code = -1;
  std::string out, err;
};

class Cli : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::filesystem::path(testing::TempDir()) / ("tenon_cli_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream(path("model.onnx"), std::ios::binary) << make_encoder::encoder_model(
        {.layers = 1, .hidden = 64, .heads = 2, .ffn = 128, .vocab = 100, .maxpos = 64});
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

  static std::string path(const std::string& name) { return (folder_ / name).string(); }

  static std::string contents(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  // Arguments are ours: no quoting needed.
  static Outcome tenon(const std::string& arguments) {
    const std::string command = std::string(TENON_BINARY_DIR) + "/bin/tenon " + arguments + " >" +
                                path("out") + " 2>" + path("err");
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), contents(path("out")), contents(path("err"))};
  }

  static void expect_error(const std::string& arguments, int code, const std::string& message) {
    const Outcome outcome = tenon(arguments);
    EXPECT_EQ(outcome.code, code) << arguments;
    EXPECT_EQ(outcome.err.find("tenon: error: "), outcome.err.rfind("tenon: ")) << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }

  static inline std::filesystem::path folder_;
};

TEST_F(Cli, SaysItsVersion) {
  const Outcome outcome = tenon("--version");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "tenon 0.1.0\n");
}

TEST_F(Cli, UsageErrorsListWhatExists) {
  expect_error("", 2, "commands: run, bench, show, demo");
  expect_error("rnu model.onnx", 2, "unknown command 'rnu'; commands: run, bench, show, demo");
  expect_error("bench x.onnx --jsn", 2, "--jsn; options of `tenon bench`: --help, --input, --dim");
  expect_error("run", 2, "model is required");
  expect_error("run x.onnx --threads 0", 2, "--threads");
  expect_error("run x.onnx --dim seq", 2, "'seq' is not NAME=VALUE");
  expect_error("run x.onnx --dim seq=8x", 2, "'8x' is not an extent");
  expect_error("run x.onnx --input a=8x8:noise", 2, "random, random:LO..HI, zeros or ones");
  expect_error("run x.onnx --input a=8x8:random:5", 2, "'5' is not a range LO..HI");
  expect_error("run x.onnx --precision f31", 2, "precision 'f31' is not known; there is: f32");
  expect_error("show x.onnx --stage grph", 2, "there are: graph, kernel, source, program");
}

TEST_F(Cli, MissingAndGarbageModelsAreErrors) {
  expect_error("run " + path("nowhere.onnx"), 1, "nowhere.onnx");
  std::ofstream(path("garbage.onnx")) << "this is no model";
  expect_error("run " + path("garbage.onnx"), 1, "garbage.onnx");
}

TEST_F(Cli, UnknownInputsAndDimsListThoseOfTheModel) {
  const Outcome input = tenon("run " + path("model.onnx") + " --input ids=1x8:zeros");
  EXPECT_EQ(input.code, 1);
  EXPECT_NE(input.err.find(
                "unknown input 'ids'; the model has: input_ids, attention_mask, token_type_ids"),
            std::string::npos)
      << input.err;
  const Outcome dim = tenon("run " + path("model.onnx") + " --dim sequence=8");
  EXPECT_EQ(dim.code, 1);
  EXPECT_NE(dim.err.find("unknown dim 'sequence'; the model has: batch, seq"), std::string::npos)
      << dim.err;
}

TEST_F(Cli, ExtentsBeyondTheModelAreErrors) {
  const Outcome outcome = tenon("run " + path("model.onnx") + " --dim batch=1 --dim seq=65");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("tenon: error: "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("65"), std::string::npos) << outcome.err;
}

TEST_F(Cli, WritesOutputsAsNpyAndReadsInputsFromNpy) {
  const std::vector<int64_t> ids(2 * 5, 7);
  npy::write(path("ids.npy"), DType::I64, {2, 5}, ids.data());
  const Outcome outcome =
      tenon("run " + path("model.onnx") + " --input input_ids=" + path("ids.npy") +
            " --input attention_mask=2x5:ones --output " + path("outputs"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const npy::Array array = npy::read(path("outputs/last_hidden_state.npy"));
  EXPECT_EQ(array.dtype, DType::F32);
  EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 5, 64}));
}

TEST_F(Cli, TheSameInputsGiveTheSameOutputsWithOneAndTwoThreads) {
  const std::string run = "run " + path("model.onnx") + " --dim batch=3 --dim seq=17 --threads ";
  const Outcome one = tenon(run + "1"), two = tenon(run + "2");
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.out, two.out);
  EXPECT_NE(one.out.find("last_hidden_state f32[3, 17, 64]"), std::string::npos) << one.out;
}

TEST_F(Cli, BenchPrintsAJsonLinePerCombination) {
  const Outcome outcome = tenon("bench " + path("model.onnx") +
                                " --dim batch=1,2 --dim seq=4,9 --threads 1,2 --runs 3 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    for (const char* key : {"dims", "threads", "precision", "runs", "median_ms", "min_ms", "p90_ms",
                            "compile_ms", "peak_rss_mb", "share_of_peak"}) {
      EXPECT_NE(line.find("\"" + std::string(key) + "\": "), std::string::npos) << line;
    }
    const bool compiled_nothing = line.find("\"compile_ms\": 0.0") != std::string::npos;
    EXPECT_EQ(compiled_nothing, count > 0) << line;
    ++count;
  }
  EXPECT_EQ(count, 8);
}

TEST_F(Cli, ShowsEveryStage) {
  for (const char* stage : {"graph", "kernel", "source", "program"}) {
    const Outcome outcome = tenon("show " + path("model.onnx") + " --stage " + stage);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_FALSE(outcome.out.empty()) << stage;
  }
}

}  // namespace
}  // namespace tenon
