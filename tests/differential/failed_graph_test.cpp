// What the compiler fails on is saved, and `tenon replay` reads it.
#include "driver/failed_graph.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "tools/replay/compare.h"

namespace tenon {
namespace {

graph::Graph some_graph() {
  graph::Graph g;
  const Dim rows = Symbol("batch size", {1, 3});
  const graph::Value x = g.input("x", {{rows, 5}, DType::F32});
  const std::vector<float> weights(2000, 0.5F);
  const graph::Value w =
      g.param("w", {{5, 400}, DType::F32}, {std::as_bytes(std::span(weights)), nullptr});
  g.set_outputs({{"y", g.relu(g.matmul(x, w))}});
  return g;
}

// A compiler that fails in its first pass.
driver::Options failing(ErrorKind kind) {
  driver::Options options;
  options.cpu = cpu_info();
  options.dump = [kind](std::string_view, const std::string&) -> void {
    throw Error(kind, "[test] it fails");
  };
  return options;
}

std::string message_of(const graph::Graph& graph, const driver::Options& options, ErrorKind kind) {
  try {
    driver::compile_or_save(graph, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return {};
}

// What lies where the message says.
replay::Case saved_by(const graph::Graph& graph, const driver::Options& options) {
  const std::string message = message_of(graph, options, ErrorKind::Internal);
  constexpr std::string_view kBefore = "tenon replay ";
  EXPECT_TRUE(message.starts_with("[test] it fails\n")) << message;
  const std::filesystem::path path = message.substr(message.find(kBefore) + kBefore.size());
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  std::filesystem::remove(path);
  return replay::parse_case(text.str());
}

TEST(FailedGraph, IsSavedWhereTheCompilerIsAtFault) {
  const replay::Case saved = saved_by(some_graph(), failing(ErrorKind::Internal));
  EXPECT_EQ(digest(saved.graph), digest(some_graph()));
  EXPECT_EQ(saved.extents.at("batch size"), 3);
  EXPECT_EQ(compare(saved, replay::cpu()).verdict, replay::Verdict::Same);
}

// As it was compiled: for a bucket of 5, not for the constant.
TEST(FailedGraph, IsSavedWithTheMarksOfABucket) {
  graph::Graph g;
  const graph::Value x = g.input("x", {{5, 2}, DType::F32});
  g.set_outputs({{"y", g.reduce(graph::Op::ReduceSum, x, {0})}});
  driver::Options options = failing(ErrorKind::Internal);
  options.bucket_axes = {{"x", 0}};
  const replay::Case saved = saved_by(g, options);
  EXPECT_EQ(saved.graph.inputs()[0].type().to_string(), "f32[active.extent, 2]");
  EXPECT_EQ(saved.extents.at("active.extent"), 5);
  EXPECT_EQ(compare(saved, replay::cpu()).verdict, replay::Verdict::Same);
}

TEST(FailedGraph, IsNotSavedWhereTheUserIs) {
  for (const ErrorKind kind : {ErrorKind::User, ErrorKind::Unsupported}) {
    EXPECT_EQ(message_of(some_graph(), failing(kind), kind), "[test] it fails");
  }
}

}  // namespace
}  // namespace tenon
