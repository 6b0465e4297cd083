// The command line as a user meets it: exit codes, one-line errors that list what exists, files and
// JSON it writes.
#include "tests/cli/cli.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "api/npy.h"
#include "tenon/dtype.h"

namespace tenon {
namespace {

TEST_F(Cli, SaysItsVersion) {
  const Outcome outcome = tenon("--version");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "tenon 0.1.0\n");
}

TEST_F(Cli, UsageErrorsListWhatExists) {
  expect_error("", 2, "commands: compile, run, bench, tune, show, demo");
  expect_error("rnu model.onnx", 2,
               "unknown command 'rnu'; commands: compile, run, bench, tune, show, demo");
  expect_error("bench x.onnx --jsn", 2, "--jsn; options of `tenon bench`: --help, --input, --dim");
  expect_error("run", 2, "model is required");
  expect_error("--jsn", 2,
               "unknown option '--jsn'; commands: compile, run, bench, tune, show, demo");
  expect_error("run ''", 2, "model: is empty");
  expect_error("run x.onnx --output ''", 2, "--output: is empty");
  expect_error("run x.onnx --dim seq", 2, "'seq' is not NAME=VALUE");
  expect_error("run x.onnx --dim seq=8x", 2, "'8x' is not an extent");
  expect_error("run x.onnx --input a=8x8:noise", 2, "random, random:LO..HI, zeros or ones");
  expect_error("run x.onnx --input a=8x8:random:5", 2, "'5' is not a range LO..HI");
  for (const char* command : {"run", "bench"}) {
    expect_error(std::string(command) + " x.onnx --precision f31", 2,
                 "precision 'f31' is not known; there are: f32, f16, bf16, int8, tf32, always_f32, "
                 "always_f16, always_bf16, auto_mixed, auto_mixed_conservative, dynamic_int8");
  }
  expect_error("bench x.onnx --require lots", 2, "--require: 'lots' is not a number from 0 to 100");
  expect_error("bench x.onnx --require-kernel 101%", 2, "'101' is not a number from 0 to 100");
  for (const char* command : {"run", "bench", "show"}) {
    expect_error(std::string(command) + " x.onnx --codegen fortran", 2,
                 "generator 'fortran' is not known; there are: llvm, c");
  }
  expect_error("onnx-test x --device cpu --codegen fortran", 2, "there are: llvm, c");
  expect_error("onnx-test x --codegen c", 2, "device interpreter generates no code");
  for (const char* sample : {"0/10", "11/10", "1", "1/2/3", "a/b"})
    expect_error(std::string("onnx-test x --sample ") + sample, 2, sample);
  expect_error("onnx-test x --at-least 85", 2, "--symbolic");
  expect_error("onnx-test x --symbolic --at-least 101", 2, "101");
  for (const char* command : {"run x.onnx", "bench x.onnx", "show x.onnx", "onnx-test x"}) {
    for (const char* device : {"tpu", "cuda:", "cuda:-1", "cuda:x", "cpu:0"}) {
      expect_error(
          std::string(command) + " --device " + device, 2,
          "device '" + std::string(device) + "' is not known; there are: cpu, cuda, cuda:1");
    }
    expect_error(std::string(command) + " --device cuda --codegen llvm", 2,
                 "--codegen llvm is for the CPU, not for cuda:0");
  }
  expect_error("show x.onnx --device cuda --cuda-arch 70", 2, "from 80 to 999");
  expect_error("show x.onnx --stage grph", 2,
               "there are: graph, fusion, dispatch, memory, lir, kernel, source, program, all");
}

TEST_F(Cli, NumbersThatAreNoneOrOutOfRangeAreErrors) {
  for (const char* count : {"0", "-1", "two", "1.5", "''", "99999999999999", "0x2"}) {
    for (const char* command : {"run x.onnx", "demo"}) {
      expect_error(std::string(command) + " --threads " + count, 2,
                   "is not a whole number from 1 to 1048576");
    }
  }
  expect_error("bench x.onnx --threads 1,,2", 2, "'1,,2': '' is not a thread count");
  expect_error("bench x.onnx --threads 1,0", 2, "'1,0': '0' is not a thread count");
  for (const char* seconds : {"nan", "inf", "-1", "long", "1e9"}) {
    expect_error(std::string("bench x.onnx --seconds ") + seconds, 2,
                 "--seconds: '" + std::string(seconds) + "' is not a number from 0 to 3600");
  }
  expect_error("bench x.onnx --probe-ms nan", 2, "--probe-ms: 'nan' is not a number");
  expect_error("run x.onnx --input a=8:random:0..inf", 2, "'0..inf' is not a range LO..HI");
}

TEST_F(Cli, ANameGivenTwiceIsAnError) {
  for (const char* command : {"run", "bench"}) {
    expect_error(std::string(command) + " x.onnx --dim seq=8 --dim batch=1 --dim seq=16", 2,
                 "--dim seq is given twice; `tenon bench` takes lists: seq=16,128");
    expect_error(std::string(command) + " x.onnx --input ids=8:ones --input ids=8:zeros", 2,
                 "--input ids is given twice");
  }
}

// The same file of results by either generator.
TEST_F(Cli, ModelsRunByEitherGenerator) {
  std::string files[2];
  for (const int i : {0, 1}) {
    const std::string folder = path(i == 0 ? "by_llvm" : "by_c");
    const Outcome outcome =
        tenon("run " + path("model.onnx") + " --dim batch=2 --dim seq=9 --codegen " +
              (i == 0 ? "llvm" : "c") + " --output " + folder);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    files[i] = contents(outcome.out.substr(0, outcome.out.find('\n')));
  }
  EXPECT_FALSE(files[0].empty());
  EXPECT_TRUE(files[0] == files[1]);
  const Outcome source = tenon("show " + path("model.onnx") + " --stage source --codegen c");
  EXPECT_EQ(source.code, 0);
  EXPECT_NE(source.out.find("void tenon_kernel(void *const *buffers"), std::string::npos);
}

// Found before the model is compiled, or even opened.
TEST_F(Cli, UnreadableInputFilesSayWhy) {
  expect_error("run x.onnx --input ids=" + path("nowhere.npy"), 1, "No such file or directory");
  std::ofstream(path("text.npy")) << "1 2 3";
  expect_error("run x.onnx --input ids=" + path("text.npy"), 1, "not a .npy file");
  expect_error("run x.onnx --input ids=ids.bin", 2, "a file of values must be a .npy file");
}

TEST_F(Cli, MissingAndGarbageModelsAreErrors) {
  expect_error("show " + folder_.string(), 1, "is not a regular file");
  expect_error("run " + path("nowhere.onnx"), 1, "nowhere.onnx");
  std::ofstream(path("garbage.onnx")) << "this is no model";
  expect_error("run " + path("garbage.onnx"), 1, "garbage.onnx");
}

TEST_F(Cli, UnknownInputsAndDimsListThoseOfTheModel) {
  expect_error("run " + path("model.onnx") + " --input ids=1x8:zeros", 1,
               "unknown input 'ids'; the model has: input_ids, attention_mask, token_type_ids");
  expect_error("run " + path("model.onnx") + " --dim sequence=8", 1,
               "unknown dim 'sequence'; the model has: batch, seq");
}

// For bench: the whole product is checked before anything of it is printed.
TEST_F(Cli, ExtentsBeyondTheModelAreErrorsBeforeTheFirstRun) {
  const std::string message =
      "tenon: error: extent seq = 65 of input \"input_ids\" is outside its bounds 1..64\n";
  expect_error("run " + path("model.onnx") + " --dim batch=1 --dim seq=65", 1, message);
  expect_error("bench " + path("model.onnx") + " --dim batch=1,2 --dim seq=4,65", 1, message);
}

TEST_F(Cli, ShapesThatDoNotFitInMemoryAreErrorsBeforeTheFirstRun) {
  const std::string extents = "[batch=2000000000 seq=64]";
  const std::string outputs = path("too_large");
  expect_error(
      "run " + path("model.onnx") + " --dim batch=2000000000 --dim seq=64 --output " + outputs, 1,
      "out of memory: " + extents + " needs ");
  EXPECT_FALSE(std::filesystem::exists(outputs));
  expect_error("bench " + path("model.onnx") + " --dim batch=1,2000000000 --dim seq=64", 1,
               "the arena alone takes ");
}

TEST_F(Cli, ARunThatNeedsMoreThanItsLimitIsAnError) {
  const std::string run =
      "run " + path("model.onnx") + " --dim batch=2 --dim seq=8 --memory-limit ";
  expect_error(run + "1000", 1, "but the limit is 1000 at batch = 2, seq = 8\n");
  EXPECT_EQ(tenon(run + "100000000").code, 0);
  expect_error(run + "0", 2, "--memory-limit: '0' is not a whole number from 1 to ");
}

TEST_F(Cli, ThreadsBeyondThoseOfTheProcessAreSaid) {
  const std::string notice = "tenon: 1000 threads asked, ";
  for (const char* command : {"run ", "bench --runs 3 "}) {
    const Outcome outcome =
        tenon(command + path("model.onnx") + " --dim batch=1 --dim seq=4 --threads 1000");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find(notice), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find(notice), outcome.err.rfind(notice)) << outcome.err;
  }
}

TEST_F(Cli, OutputsThatCannotBeWrittenAreErrors) {
  const std::string shape = path("model.onnx") + " --dim batch=1 --dim seq=4";
  std::ofstream(path("file")) << "in the way";
  expect_error("run " + shape + " --output " + path("file"), 1, "cannot be made: Not a directory");
  expect_error("run " + shape + " --output " + path("file/below"), 1,
               "cannot be made: Not a directory");
  std::filesystem::create_directories(path("taken/last_hidden_state.npy/x"));
  expect_error("run " + shape + " --output " + path("taken"), 1, "cannot be written: ");
}

// Each row is flushed as it is measured, so the loss is not found by the last flush alone.
TEST_F(Cli, AFullDiskUnderStandardOutputIsAnError) {
  const std::string command = std::string(TENON_BINARY_DIR) + "/bin/tenon bench " +
                              path("model.onnx") +
                              " --dim batch=1 --dim seq=4 --runs 3 >/dev/full 2>" + path("err");
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
  EXPECT_NE(contents(path("err")).find("standard output cannot be written"), std::string::npos);
}

TEST_F(Cli, EveryCommandHasHelp) {
  for (const char* command : {"", "run", "bench", "show", "demo"}) {
    const Outcome outcome = tenon(std::string(command) + " --help");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.out.find("Usage: tenon"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.err, "");
  }
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
  size_t together = 0;
  for (const char* stage :
       {"graph", "fusion", "dispatch", "lir", "memory", "kernel", "source", "program"}) {
    const Outcome outcome = tenon("show " + path("model.onnx") + " --stage " + stage);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_FALSE(outcome.out.empty()) << stage;
    if (stage != std::string("program")) together += outcome.out.size();
  }
  EXPECT_EQ(tenon("show " + path("model.onnx") + " --stage all").out.size(), together);
}

TEST_F(Cli, SchedulesAsTheOptimizerSays) {
  const std::string kernels = "show " + path("model.onnx") + " --stage kernel";
  EXPECT_NE(tenon(kernels).out.find(" mma "), std::string::npos);
  const Outcome plain = tenon(kernels + " --optimizer plain");
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(plain.out.find(" mma "), std::string::npos);
  expect_error(kernels + " --optimizer fast", 2, "there are: analytic, plain");
  expect_error(kernels + " --optimizer plain --device cuda", 1, "is for CPUs, the device is cuda");
}

TEST_F(Cli, LeavesTheTextOfEveryStageWhereTheEnvironmentSays) {
  setenv("TENON_DUMP", path("dump").c_str(), 1);
  const Outcome once = tenon("run " + path("model.onnx") + " --dim batch=1 --dim seq=3");
  tenon("run " + path("model.onnx") + " --dim batch=1 --dim seq=3");
  unsetenv("TENON_DUMP");
  EXPECT_EQ(once.code, 0) << once.err;
  for (const char* folder : {"dump/000-model.onnx", "dump/001-model.onnx"})
    EXPECT_NE(contents(path(folder) + "/000-graph.txt"), "") << folder;
}

TEST_F(Cli, ADeviceThatIsNotThereIsAnErrorThatSaysWhy) {
  const std::string message = "cuda:77 is not available: ";
  for (const char* command : {"run ", "bench ", "onnx-test "}) {
    expect_error(command + path("model.onnx") + " --device cuda:77", 1, message);
  }
  const Outcome devices = tenon("devices");
  EXPECT_EQ(devices.code, 0);
  EXPECT_EQ(devices.out.find("cpu      AVX"), 0U) << devices.out;
  EXPECT_NE(devices.out.find("\ncuda:0 "), std::string::npos) << devices.out;
}

TEST_F(Cli, ReplaysASavedGraph) {
  std::ofstream(path("case.txt")) << "case seed=3 n=5\n"
                                     "graph\n"
                                     "symbol n 1..9\n"
                                     "input %x : f32[n]\n"
                                     "%0 = neg(%x) : f32[n]\n"
                                     "output \"y\" = %0\n";
  const Outcome outcome = tenon("replay " + path("case.txt"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "same\n");
  expect_error("replay " + path("none.txt"), 1, "cannot be read");
  expect_error("replay " + path("model.onnx"), 1, "does not begin with");
  expect_error("replay " + path("case.txt") + " --device tpu", 2, "there is: cpu");
}

TEST_F(Cli, PlansBuckets) {
  std::ofstream(path("shapes.txt")) << "# lengths of a day\n17 300\n32 49\n32\n\n200 9  # long\n";
  const Outcome plan = tenon("buckets --shapes " + path("shapes.txt") + " --count 2");
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_NE(plan.out.find("1..33"), std::string::npos) << plan.out;
  EXPECT_NE(plan.out.find("33..201"), std::string::npos) << plan.out;
  EXPECT_NE(plan.out.find("padded work 13000; an active extent makes it 8500"), std::string::npos);
  const Outcome steep =
      tenon("buckets --shapes " + path("shapes.txt") + " --count 1 --quadratic 1");
  EXPECT_NE(steep.out.find("padded work 1.44318e+07"), std::string::npos) << steep.out;
}

TEST_F(Cli, BucketsNeedShapesThatCanBeRead) {
  expect_error("buckets --shapes " + path("none.txt") + " --count 2", 1, "cannot be read");
  std::ofstream(path("bad.txt")) << "17 300\n32 many\n";
  expect_error("buckets --shapes " + path("bad.txt") + " --count 2", 1, "line 2: \"32 many\"");
  std::ofstream(path("empty.txt")) << "# nothing\n";
  expect_error("buckets --shapes " + path("empty.txt") + " --count 2", 1, "there are no requests");
  expect_error("buckets --shapes " + path("bad.txt") + " --count 0", 2, "--count");
}

}  // namespace
}  // namespace tenon
