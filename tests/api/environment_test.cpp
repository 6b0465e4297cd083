// Environment variables that decide about a compile: TENON_KERNEL_DISPATCH, TENON_FORCE_COMMON,
// TENON_MEMORY_PLANNER. They are read once in a process, so the test starts itself again in other
// environments, to tell what two compiles made of them: one that leaves everything open, and one
// whose options say what the default is.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tenon/tenon.h"

namespace tenon {
namespace {

constexpr const char* kTell = "TENON_TEST_TELL_OPTIONS";

Graph model() {
  Graph g;
  const Value x = g.input("x", {{sym::batch(), sym::seq(), 16}, DType::F32});
  const Value scale = g.param("scale", {{16}, DType::F32});
  Value y = x;
  for (int i = 0; i < 3; ++i)
    y = g.rms_norm(g.attention(y, y, y, {.heads = 2, .head_dim = 8}), scale);
  g.set_outputs({{"y", y}});
  return g;
}

void tell(const char* who, const CompileOptions& options) {
  try {
    const CompileResult result = CompilePipeline(options).compile_graph(model());
    std::printf("%s: %d attentions and %d norms in common, %s\n", who,
                result.dispatch.rows.at("attention").common,
                result.dispatch.rows.at("rms_norm").common,
                result.lir.plan().buffers_reused > 0 ? "memory shared" : "nothing shared");
  } catch (const Error& error) {
    std::printf("%s: %s\n", who, error.what());
  }
}

std::string told_with(const std::string& environment) {
  const std::string command = std::string(kTell) + "=1 " + environment +
                              " exec \"$(readlink /proc/$PPID/exe)\" "
                              "--gtest_filter=Environment.DecidesWhatOptionsLeaveOpen";
  std::FILE* child = popen(command.c_str(), "r");
  if (!child) return "no process";
  std::string text;
  char line[512];
  while (std::fgets(line, sizeof(line), child)) text += line;
  EXPECT_EQ(pclose(child), 0);
  return text;
}

TEST(Environment, DecidesWhatOptionsLeaveOpen) {
  if (std::getenv(kTell)) {
    tell("open", {});
    tell("given", {.dispatch = DispatchOptions(), .memory = PlanOptions()});
    return;
  }
  const std::string usual = "0 attentions and 0 norms in common, memory shared\n";
  const struct {
    const char* environment;
    std::string open;
  } rows[] = {
      {"", usual},
      {"TENON_KERNEL_DISPATCH=prefer-native", usual},
      {"TENON_KERNEL_DISPATCH=force-common", "3 attentions and 3 norms in common, memory shared\n"},
      {"TENON_FORCE_COMMON=rms_norm", "0 attentions and 3 norms in common, memory shared\n"},
      {"TENON_FORCE_COMMON=rms_norm,attention",
       "3 attentions and 3 norms in common, memory shared\n"},
      {"TENON_MEMORY_PLANNER=disabled", "0 attentions and 0 norms in common, nothing shared\n"},
      {"TENON_MEMORY_PLANNER=remap", usual},
  };
  for (const auto& [environment, open] : rows) {
    const std::string told = told_with(environment);
    EXPECT_NE(told.find("open: " + open), std::string::npos) << environment << "\n" << told;
    EXPECT_NE(told.find("given: " + usual), std::string::npos) << environment << "\n" << told;
  }
}

TEST(Environment, WrongValuesAreErrorsThatNameTheVariable) {
  const struct {
    const char *environment, *error;
  } rows[] = {
      {"TENON_KERNEL_DISPATCH=sometimes",
       "open: [TENON_KERNEL_DISPATCH] 'sometimes' is not allowed; allowed: "
       "prefer-native|force-common|force-native\n"},
      {"TENON_MEMORY_PLANNER=none",
       "open: [TENON_MEMORY_PLANNER] 'none' is not allowed; allowed: arena|remap|disabled\n"},
      {"TENON_FORCE_COMMON=rms_norm,attentoin",
       "open: [TENON_FORCE_COMMON] 'attentoin' is not allowed; allowed: "},
      {"TENON_FORCE_COMMON=matmul",
       "open: [TENON_FORCE_COMMON] 'matmul' is not allowed; allowed: "},
  };
  for (const auto& [environment, error] : rows) {
    const std::string told = told_with(environment);
    EXPECT_NE(told.find(error), std::string::npos) << environment << "\n" << told;
  }
}

}  // namespace
}  // namespace tenon
