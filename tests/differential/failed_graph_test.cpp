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

std::string message_of(const driver::Options& options, ErrorKind kind) {
  try {
    driver::compile_or_save(some_graph(), options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return {};
}

TEST(FailedGraph, IsSavedWhereTheCompilerIsAtFault) {
  const std::string message = message_of(failing(ErrorKind::Internal), ErrorKind::Internal);
  constexpr std::string_view kBefore = "tenon replay ";
  EXPECT_TRUE(message.starts_with("[test] it fails\n")) << message;
  const size_t at = message.find(kBefore);
  ASSERT_NE(at, std::string::npos) << message;
  const std::filesystem::path path = message.substr(at + kBefore.size());
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const replay::Case saved = replay::parse_case(text.str());
  EXPECT_EQ(digest(saved.graph), digest(some_graph()));
  EXPECT_EQ(saved.extents.at("batch size"), 3);
  EXPECT_EQ(compare(saved, replay::cpu()).verdict, replay::Verdict::Same);
  std::filesystem::remove(path);
}

TEST(FailedGraph, IsNotSavedWhereTheUserIs) {
  for (const ErrorKind kind : {ErrorKind::User, ErrorKind::Unsupported}) {
    EXPECT_EQ(message_of(failing(kind), kind), "[test] it fails");
  }
}

}  // namespace
}  // namespace tenon
