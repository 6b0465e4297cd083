// `tenon bench` with receipts and with precisions, as people and as programs read it, and the trace
// that TENON_TRACE asks for. What it prints is read by another program.
#include "tests/cli/cli.h"
#include "tests/sanitizers.h"

namespace tenon {
namespace {

class BenchCli : public Cli {
 protected:
  // Quick, and not to be taken for a figure.
  static Outcome bench(const std::string& options,
                       const std::string& dims = "--dim batch=2 --dim seq=8") {
    return tenon("bench " + path("model.onnx") + " " + dims +
                 " --threads 1 --runs 3 --seconds 0 --probe-ms 1 " + options);
  }
  // What Python makes of the JSON `d` in a file; "" where it is none.
  static std::string python(const std::string& file, const std::string& expression) {
    const std::string command = "python3 -c \"import json; d = json.load(open('" + file +
                                "')); print(" + expression + ")\" >" + path("python");
    return std::system(command.c_str()) == 0 ? contents(path("python")) : "";
  }
};

TEST_F(BenchCli, ReceiptsAreATableSortedByTime) {
  const Outcome outcome = bench("--receipts");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string& text = outcome.out;
  EXPECT_NE(text.find("kernel                     from "), std::string::npos) << text;
  for (const char* part : {"linear_gelu ", "attention ", "layer_norm ", "the whole run ",
                           "limits at 1 thread: f32 ", "read / copy in GB/s: L1 "})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

// The encoder of the tests: 1 layer, hidden 64, inner 128, 16 tokens. Products of q, k and v and of
// attention's output: 4 * 64 * 64 for a token, of the inner layers 2 * 64 * 128; attention itself 4
// * 8 * 64 for each of 16 queries.
TEST_F(BenchCli, ReceiptsInJsonHaveTheFlopsOfTheModel) {
  const Outcome outcome = bench("--receipts --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string out = path("out");
  const int products = 2 * 16 * (4 * 64 * 64 + 2 * 64 * 128), attention = 16 * 4 * 8 * 64;
  EXPECT_EQ(python(out, "int(sum(k['flops'] for k in d['receipt']['kernels']))"),
            std::to_string(products + attention) + "\n");
  EXPECT_EQ(python(out,
                   "[k['ms'] for k in d['receipt']['kernels']] == "
                   "sorted([k['ms'] for k in d['receipt']['kernels']], reverse=True)"),
            "True\n");
  EXPECT_EQ(python(out, "d['precision'], 'error_vs_f32' in d"), "f32 False\n");
  EXPECT_EQ(python(out, "all(0 < k['floor_ms'] for k in d['receipt']['kernels'])"), "True\n");
}

// One token: each kernel is mostly its call, far from a limit however well the probes go.
TEST_F(BenchCli, FailsWhereLessIsReachedThanRequired) {
#if TENON_ADDRESS_SANITIZER
  GTEST_SKIP() << "probes are slowed down by the sanitizer, kernels are not";
#endif
  const std::string token = "--dim batch=1 --dim seq=1";
  EXPECT_EQ(bench("--require 0.00001% --require-kernel 0.000001", token).code, 0);
  const Outcome run = bench("--require 99.9%", token);
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.err.find("tenon: batch=1 seq=1 threads=1: the run is at "), std::string::npos);
  EXPECT_NE(run.err.find("% of its limit, 99.9% is required\n"), std::string::npos) << run.err;
  const Outcome kernel = bench("--require-kernel 99.9%", token);
  EXPECT_EQ(kernel.code, 1);
  EXPECT_NE(kernel.err.find(") is at "), std::string::npos) << kernel.err;
  EXPECT_NE(kernel.out.find("the whole run"), std::string::npos) << "and shows what it found";
}

// Roundings of 8 and of 11 bits: an error between what one of them makes and what all of a small
// model can add up.
TEST_F(BenchCli, OtherPrecisionsAreComparedWithF32) {
  for (const auto& [precision, least, most] : {std::tuple("bf16", 1e-4, 3e-2),
                                               {"f16", 1e-5, 4e-3},
                                               {"int8", 1e-4, 5e-2},
                                               {"always_bf16", 1e-4, 5e-2}}) {
    const Outcome outcome = bench(std::string("--json --precision ") + precision);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const double error = std::atof(python(path("out"), "d['error_vs_f32']").c_str());
    EXPECT_GT(error, least) << precision;
    EXPECT_LT(error, most) << precision;
    EXPECT_EQ(python(path("out"), "d['precision']"), std::string(precision) + "\n");
  }
  const Outcome table = bench("--precision bf16");
  EXPECT_NE(table.out.find("compile     error\n"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("e-03\n"), std::string::npos) << table.out;
}

TEST_F(BenchCli, RunTakesThePrecisionToo) {
  const std::string arguments = "run " + path("model.onnx") + " --dim batch=1 --dim seq=4 ";
  const std::string f32 = tenon(arguments).out, bf16 = tenon(arguments + "--precision bf16").out;
  EXPECT_NE(f32, bf16);
  EXPECT_EQ(f32, tenon(arguments + "--precision f32").out);
  EXPECT_EQ(bf16, tenon(arguments + "--precision auto_mixed").out);
  expect_error(arguments + "--precision tf32", 1, "precision tf32 is for GPUs");
}

TEST_F(BenchCli, ATraceIsAnArrayOfPassesAndKernels) {
  const std::string trace = path("trace.json");
  ASSERT_EQ(tenon("run " + path("model.onnx") + " --no-cache --dim batch=1 --dim seq=4",
                  "TENON_TRACE=" + trace + " ")
                .code,
            0);
  EXPECT_EQ(python(trace, "sorted(set(e['cat'] for e in d))"),
            "['codegen', 'compile', 'kernel', 'pass', 'run']\n");
  for (const char* kind : {"codegen", "kernel"}) {
    EXPECT_EQ(python(trace, std::string("len([e for e in d if e['name'] == 'attention' and ") +
                                "e['cat'] == '" + kind + "'])"),
              "1\n");
  }
  EXPECT_EQ(python(trace, "all(e['ph'] == 'X' and e['dur'] >= 0 for e in d)"), "True\n");
}

}  // namespace
}  // namespace tenon
