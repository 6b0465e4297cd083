// The trace of compiles and runs: an array of events after each flush, with passes and kernels.
#include "tenon/trace.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/trace.h"
#include "tenon/tenon.h"

namespace tenon {
namespace {

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

Graph model() {
  Graph g;
  g.set_origin("the \"first\" layer");
  const Value x = g.input("x", {{sym::batch(), 8}, DType::F32});
  g.set_outputs({{"y", g.softmax(g.matmul(x, g.param("w", {{8, 8}, DType::F32})), 1)}});
  return g;
}

TEST(Trace, HasPassesAndEveryKernelOfARun) {
  const std::string path =
      std::filesystem::path(testing::TempDir()) / ("tenon_trace_" + std::to_string(getpid()));
  start_trace(path);
  EXPECT_EQ(contents(path), "[\n]\n");
  CompiledGraph graph = Session().compile(model(), {.name = "small"});
  graph.set_param("w", std::vector<float>(64, 1));
  const std::vector<float> x(16, 1);
  graph.run({{"x", view(x, {2, 8})}});
  flush_trace();
  const std::string once = contents(path);
  EXPECT_TRUE(once.starts_with("[\n{\"name\": ")) << once;
  EXPECT_TRUE(once.ends_with("}\n]\n")) << once;
  EXPECT_EQ(count(once, "\"name\": \"lower\", \"cat\": \"pass\""), 1) << once;
  EXPECT_EQ(count(once, "\"name\": \"small\", \"cat\": \"compile\""), 1) << once;
  EXPECT_EQ(count(once, "\"name\": \"small\", \"cat\": \"run\""), 1) << once;
  EXPECT_EQ(count(once, "\"name\": \"softmax\", \"cat\": \"kernel\""), 1) << once;
  EXPECT_EQ(count(once, "\"of\": \"the \\\"first\\\" layer"), 3)
      << "pack, product, softmax" << once;
  graph.run({{"x", view(x, {2, 8})}});
  flush_trace();
  const std::string twice = contents(path);
  EXPECT_TRUE(twice.ends_with("}\n]\n"));
  EXPECT_EQ(count(twice, "]\n"), 1) << "one array";
  EXPECT_EQ(count(twice, "\"name\": \"softmax\", \"cat\": \"kernel\""), 2);
  EXPECT_EQ(count(twice, "\n{"), count(twice, ",\n") + 1);
  EXPECT_THROW(start_trace("/nowhere/trace.json"), Error);
  end_trace();
  graph.run({{"x", view(x, {2, 8})}});
  flush_trace();
  EXPECT_EQ(contents(path), twice);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tenon
