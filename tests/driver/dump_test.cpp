// Dumps: a folder for each compile, files in the order of stages, bodies in folders inside.
#include "driver/dump.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "driver/pipeline.h"

namespace tenon::driver {
namespace {

namespace fs = std::filesystem;

class DumpTest : public ::testing::Test {
 protected:
  DumpTest() : folder_(fs::path(testing::TempDir()) / ("tenon_dump_" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
  }
  ~DumpTest() override { fs::remove_all(folder_); }

  std::string text(const std::string& file) const {
    std::ostringstream all;
    all << std::ifstream(folder_ / file).rdbuf();
    return all.str();
  }
  // The one file of a folder whose name ends so.
  std::string text_of_stage(const std::string& inside, const std::string& stage) const {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / inside)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with("-" + stage + ".txt")) return text(inside + "/" + name);
    }
    ADD_FAILURE() << "no " << stage << " in " << inside;
    return "";
  }

  fs::path folder_;
};

TEST_F(DumpTest, NoCompileOverwritesWhatAnotherLeft) {
  const auto first = dump_to_folder(folder_.string(), "models/a.onnx");
  first("simplify", "one");
  const auto second = dump_to_folder(folder_.string(), "b c");
  const auto unused = dump_to_folder(folder_.string(), "nothing");  // makes no folder
  second("kernel:linear", "two");
  first("fuse_linear", "three");
  const auto third = dump_to_folder(folder_.string(), "a.onnx");
  third("simplify", "four");
  EXPECT_EQ(text("000-a.onnx/000-simplify.txt"), "one");
  EXPECT_EQ(text("000-a.onnx/001-fuse_linear.txt"), "three");
  EXPECT_EQ(text("001-b-c/000-kernel-linear.txt"), "two");
  EXPECT_EQ(text("002-a.onnx/000-simplify.txt"), "four");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 3);
}

TEST_F(DumpTest, BodiesHaveFoldersOfTheirOwn) {
  const auto dump = dump_to_folder(folder_.string(), "m");
  dump("graph", "outside");
  dump("body0/graph", "first");
  dump("body1/body0/graph", "inner");
  dump("lir", "after");
  EXPECT_EQ(text("000-m/000-graph.txt"), "outside");
  EXPECT_EQ(text("000-m/body0/000-graph.txt"), "first");
  EXPECT_EQ(text("000-m/body1/body0/000-graph.txt"), "inner");
  EXPECT_EQ(text("000-m/001-lir.txt"), "after");
}

TEST_F(DumpTest, AFolderThatCannotBeMadeIsAnErrorThatNamesIt) {
  fs::create_directories(folder_);
  const std::string file = (folder_ / "file").string();
  std::ofstream(file) << "in the way";
  try {
    dump_to_folder(file, "m")("simplify", "text");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::User);
    EXPECT_NE(std::string(error.what()).find(file), std::string::npos) << error.what();
  }
}

// Doubles x, or negates it.
graph::Graph branches() {
  graph::Graph g;
  const Dim n = sym::batch();
  const graph::Value condition = g.input("condition", {{}, DType::Bool});
  const graph::Value x = g.input("x", {{n, 4}, DType::F32});
  graph::Graph then = g.nested();
  const graph::Value a = then.input("a", {{n, 4}, DType::F32});
  then.set_outputs({{"t", then.add(a, a)}});
  graph::Graph other = g.nested();
  other.set_outputs({{"e", other.unary(graph::Op::Neg, other.input("b", {{n, 4}, DType::F32}))}});
  const graph::Value y = g.apply(graph::Op::If, {condition, x, x},
                                 {{"then", graph::Subgraph(std::move(then))},
                                  {"else", graph::Subgraph(std::move(other))},
                                  {"extents", std::vector<Dim>{n, 4}}});
  g.set_outputs({{"y", g.relu(y)}});
  return g;
}

TEST_F(DumpTest, OfACompileHasEveryStageOfBranchesToo) {
  Options options{.name = "m", .cpu = detect_cpu(CpuIsa::Avx2), .dump = {}};
  options.dump = dump_to_folder(folder_.string(), options.name);
  compile(branches(), options);
  EXPECT_EQ(text("000-m/000-graph.txt"), graph::print(branches()));
  for (const char* stage : {"simplify", "fusion_report", "dispatch_report", "lir", "memory_map"}) {
    EXPECT_NE(text_of_stage("000-m", stage), "") << stage;
    EXPECT_NE(text_of_stage("000-m/body0", stage), "") << stage;
    EXPECT_NE(text_of_stage("000-m/body1", stage), "") << stage;
  }
  EXPECT_NE(text_of_stage("000-m/body0", "lir").find("output t"), std::string::npos);
  EXPECT_NE(text_of_stage("000-m/body1", "lir").find("output e"), std::string::npos);
}

}  // namespace
}  // namespace tenon::driver
