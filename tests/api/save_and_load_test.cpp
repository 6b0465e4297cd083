// A compiled model is saved and loaded, in another process or here, and gives the same bits.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/cpu_info.h"
#include "tenon/tenon.h"
#include "tests/driver/small_encoder.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

using graph_test::Request;
using graph_test::small_encoder;

class SaveAndLoad : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const char* name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("tenon_save_" + std::to_string(getpid()));
};

TEST_F(SaveAndLoad, GivesTheSameBitsAtEveryShape) {
  CompiledGraph compiled = small_encoder();
  compiled.save(file("model.tenon"));
  CompiledGraph loaded = CompiledGraph::load(file("model.tenon"));
  for (const auto& [batch, seq] : {std::pair<int64_t, int64_t>{1, 7}, {3, 32}, {2, 1}}) {
    const Request request(batch, seq);
    EXPECT_EQ(loaded.run(request.inputs), compiled.run(request.inputs)) << batch << " " << seq;
  }
  EXPECT_EQ(loaded.stats().kernels, compiled.stats().kernels);
  EXPECT_EQ(loaded.stats().weight_bytes, compiled.stats().weight_bytes);
  EXPECT_EQ(loaded.dims().size(), compiled.dims().size());
}

TEST_F(SaveAndLoad, OfALoadedGraphIsTheSameFile) {
  small_encoder().save(file("first"));
  CompiledGraph::load(file("first")).save(file("second"));
  const auto bytes = [](const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(bytes(file("first")), bytes(file("second")));
}

TEST_F(SaveAndLoad, KeepsParametersThatWereSet) {
  Graph graph;
  const Symbol n("n");
  const Value x = graph.input("x", {{n, 2}, DType::F32});
  const Value w = graph.param("w", {{2, 2}, DType::F32});
  graph.set_outputs({{"y", graph.matmul(x, w)}});
  CompiledGraph compiled = Session().compile(graph);
  compiled.save(file("without"));
  compiled.set_param("w", view(std::vector<float>{1, 2, 3, 4}, {2, 2}));
  compiled.save(file("with"));
  const std::vector<float> one = {10, 100};
  const NamedInputs inputs = {{"x", view(one, {1, 2})}};
  EXPECT_EQ(CompiledGraph::load(file("with")).run(inputs)[0], (std::vector<float>{310, 420}));
  CompiledGraph unset = CompiledGraph::load(file("without"));
  EXPECT_EQ(user_error_of([&] { unset.run(inputs); }),
            "parameter \"w\" is not set: call set_param before the first run");
}

TEST_F(SaveAndLoad, LeavesNothingHalfWritten) {
  const CompiledGraph compiled = small_encoder();
  EXPECT_EQ(user_error_of([&] { compiled.save(file("no/such/folder")); }),
            file("no/such/folder") + ": cannot be written: No such file or directory");
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(file("x")).parent_path()));
}

TEST_F(SaveAndLoad, SaysWhyAFileCannotBeUsed) {
  EXPECT_EQ(user_error_of([&] { CompiledGraph::load(file("absent")); }),
            "[" + file("absent") + "] cannot open: No such file or directory");
  std::ofstream(file("text")) << "not a model";
  EXPECT_EQ(user_error_of([&] { CompiledGraph::load(file("text")); }),
            "[" + file("text") + "] the artifact cannot be used: it is no artifact: 11 bytes");
  small_encoder().save(file("model"));
  EXPECT_EQ(user_error_of([&] { CompiledGraph::load(file("model"), {.device = Device::Cuda()}); }),
            fmt::format("[{}] the artifact cannot run on cuda:0: it was compiled for cpu {}, not "
                        "for cuda",
                        file("model"), to_string(cpu_info().isa)));
  EXPECT_EQ(user_error_of([&] { CompiledGraph::load(file("model"), {.threads = -1}); }),
            "[load] -1 threads: 0 or more are needed");
}

}  // namespace
}  // namespace tenon
