// Files with code for several machines, weights inside or beside, and what becomes of damage.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "codegen/cuda/nvrtc.h"
#include "tenon/tenon.h"
#include "tests/driver/small_encoder.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

using graph_test::cpus_here;
using graph_test::Request;
using graph_test::small_encoder;

class ArtifactFiles : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return folder_ / name; }
  static std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const std::string& path, const std::string& bytes) {
    std::filesystem::remove(path);  // a graph may have it mapped
    std::ofstream(path, std::ios::binary) << bytes;
  }
  static void flip(const std::string& path, size_t at) {
    std::string bytes = read(path);
    bytes[at] = static_cast<char>(bytes[at] ^ 16);
    write(path, bytes);
  }
  static std::vector<std::vector<float>> run(CompiledGraph& graph) {
    return graph.run(Request(2, 9).inputs);
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("tenon_files_" + std::to_string(getpid()));
};

// y = x w; w is 2 x 2.
Graph product(const char* output = "y", const Symbol& n = Symbol("n", {1, 9})) {
  Graph graph;
  const Value x = graph.input("x", {{n, 2}, DType::F32});
  graph.set_outputs({{output, graph.matmul(x, graph.param("w", {{2, 2}, DType::F32}))}});
  return graph;
}

TEST_F(ArtifactFiles, WithCodeForSeveralCpusHaveTheWeightsOnce) {
  if (cpus_here().size() < 2) GTEST_SKIP() << "this CPU has no AVX-512";
  std::vector<CompiledGraph> graphs;
  for (const char* cpu : cpus_here()) graphs.push_back(small_encoder({.cpu = cpu}));
  graphs[0].save(file("one"));
  CompiledGraph::save_all(file("both"), graphs);
  const auto weights = static_cast<uintmax_t>(graphs[0].stats().weight_bytes);
  const auto one = std::filesystem::file_size(file("one")),
             both = std::filesystem::file_size(file("both"));
  EXPECT_GT(both, one);
  EXPECT_LT(both - weights, 3 * (one - weights));
  CompiledGraph loaded = CompiledGraph::load(file("both"));
  EXPECT_EQ(run(loaded), run(graphs[1]));
  EXPECT_EQ(run(loaded), run(graphs[0]));
  EXPECT_EQ(loaded.stats().kernels, graphs[1].stats().kernels);
}

TEST_F(ArtifactFiles, HaveCodeForGpusThatAreNotThere) {
  if (!codegen::cuda::has_nvrtc()) GTEST_SKIP() << "there is no NVRTC";
  std::vector<CompiledGraph> graphs;
  graphs.push_back(small_encoder());
  for (const int arch : {80, 90})
    graphs.push_back(small_encoder({.device = Device::Cuda(77), .cuda_arch = arch}));
  CompiledGraph::save_all(file("all"), graphs);
  CompiledGraph loaded = CompiledGraph::load(file("all"));
  EXPECT_EQ(loaded.device(), Device::Cpu());
  EXPECT_EQ(run(loaded), run(graphs[0]));
  const std::string error =
      user_error_of([&] { CompiledGraph::load(file("all"), {.device = Device::Cuda(77)}); });
  EXPECT_EQ(error.find("[" + file("all") + "] the artifact cannot run on cuda:77: "), 0U) << error;
}

TEST_F(ArtifactFiles, AreOfOneModelOrNotWritten) {
  const Session session;
  const auto error_with = [&](CompiledGraph other) {
    std::vector<CompiledGraph> graphs;
    graphs.push_back(session.compile(product(), {.device = Device::Null()}));
    graphs.push_back(std::move(other));
    const std::string error = user_error_of([&] { CompiledGraph::save_all(file("pair"), graphs); });
    EXPECT_EQ(std::filesystem::exists(file("pair")), error == "no error");
    return error;
  };
  EXPECT_EQ(error_with(session.compile(product(), {.device = Device::Null()})),
            "[save_all] two graphs are for null");
  EXPECT_EQ(error_with(session.compile(product("z"))),
            "[save_all] the graphs differ: output 0 is \"y\" in one, \"z\" in another");
  EXPECT_EQ(error_with(session.compile(product("y", Symbol("n", {1, 7})))),
            "[save_all] the graphs differ: extent \"n\" is 1..9 in one, 1..7 in another");
  CompiledGraph set = session.compile(product());
  set.set_param("w", std::vector<float>{1, 2, 3, 4});
  EXPECT_EQ(error_with(std::move(set)),
            "[save_all] the graphs differ: parameter \"w\" has other data");
  EXPECT_EQ(error_with(session.compile(product())), "no error");
  EXPECT_EQ(user_error_of([&] { CompiledGraph::save_all(file("none"), {}); }),
            "[save_all] there is no graph to save");
}

class WeightsBesideFiles : public ArtifactFiles {
 protected:
  void SetUp() override {
    ArtifactFiles::SetUp();
    compiled_.save(file("m"), {.weights = WeightsPlace::Beside});
  }
  std::string load_error(const std::string& name) {
    return user_error_of([&] { CompiledGraph::load(file(name)); });
  }
  CompiledGraph compiled_ = small_encoder();
};

TEST_F(WeightsBesideFiles, AreFoundByTheNameOfTheArtifact) {
  EXPECT_LT(std::filesystem::file_size(file("m")),
            static_cast<uintmax_t>(compiled_.stats().weight_bytes));
  CompiledGraph loaded = CompiledGraph::load(file("m"));
  EXPECT_EQ(run(loaded), run(compiled_));
  std::filesystem::rename(file("m"), file("moved"));
  EXPECT_EQ(load_error("moved"),
            "[" + file("moved") +
                "] the artifact cannot be used: its weights are beside it, but [" +
                file("moved.weights") + "] cannot open: No such file or directory");
  std::filesystem::rename(file("m.weights"), file("moved.weights"));
  CompiledGraph again = CompiledGraph::load(file("moved"));
  EXPECT_EQ(run(again), run(compiled_));
}

TEST_F(WeightsBesideFiles, ThatAreForeignOrCutAreErrors) {
  const std::string front = "[" + file("m") + "] the artifact cannot be used: ";
  const std::string good = read(file("m.weights"));
  write(file("m.weights"), good.substr(0, good.size() - 1));
  EXPECT_EQ(load_error("m"), front + file("m.weights") +
                                 " is cut: " + std::to_string(good.size() - 1) +
                                 " bytes are not what its header says");
  write(file("m.weights"), read(file("m")));
  EXPECT_EQ(load_error("m"),
            front + "it has no weights: " + file("m.weights") + " is no file of weights");
  CompiledGraph other = Session().compile(product());
  other.set_param("w", std::vector<float>{1, 2, 3, 4});
  other.save(file("other"), {.weights = WeightsPlace::Beside});
  write(file("m.weights"), read(file("other.weights")));
  EXPECT_EQ(load_error("m"), front + file("m.weights") + " has the weights of another artifact");
  write(file("m.weights"), good);
  CompiledGraph loaded = CompiledGraph::load(file("m"));
  EXPECT_EQ(run(loaded), run(compiled_));
}

TEST_F(WeightsBesideFiles, AreCheckedWhenTheyAreRead) {
  flip(file("m.weights"), 200);
  CompiledGraph loaded = CompiledGraph::load(file("m"), {.check_weights = WeightCheck::WhenRead});
  const std::string error = user_error_of([&] { run(loaded); });
  EXPECT_EQ(error.find("[" + file("m.weights") + "] parameter \""), 0U) << error;
  EXPECT_NE(error.find("\" is damaged: its digest is another"), std::string::npos) << error;
  CompiledGraph clone = loaded.clone();
  EXPECT_EQ(user_error_of([&] { run(clone); }), error);
  EXPECT_EQ(user_error_of([&] { loaded.save(file("again")); }), error);
  EXPECT_EQ(user_error_of(
                [&] { CompiledGraph::load(file("m"), {.check_weights = WeightCheck::AtLoad}); }),
            error);
  CompiledGraph trusted = CompiledGraph::load(file("m"), {.check_weights = WeightCheck::Never});
  EXPECT_NE(run(trusted), run(compiled_));
}

// What a graph that checks nothing has packed is no one else's.
TEST_F(WeightsBesideFiles, AreCheckedThoughAnotherGraphReadThemUnchecked) {
  flip(file("m.weights"), 200);
  CompiledGraph trusted = CompiledGraph::load(file("m"), {.check_weights = WeightCheck::Never});
  run(trusted);
  CompiledGraph loaded = CompiledGraph::load(file("m"));
  EXPECT_NE(user_error_of([&] { run(loaded); }), "no error");
}

TEST_F(WeightsBesideFiles, AndTheArtifactGiveNoWrongResultWhereverABitFlips) {
  const auto expected = run(compiled_);
  std::mt19937_64 random(8);
  int errors = 0, same = 0;
  for (int i = 0; i < 400; ++i) {
    const std::string changed = file(i % 2 ? "m" : "m.weights"), good = read(changed);
    const bool near_the_front = i % 4 < 2;
    flip(changed, random() % (near_the_front ? 256 : good.size()));
    std::vector<std::vector<float>> result;
    const std::string error = user_error_of([&] {
      CompiledGraph loaded = CompiledGraph::load(file("m"));
      result = run(loaded);
    });
    error == "no error" ? ++same : ++errors;
    if (error == "no error") {
      EXPECT_EQ(result, expected) << changed << " " << i;
    }
    write(changed, good);
  }
  EXPECT_GT(errors, 350);
  EXPECT_LT(same, 50);  // flips of padding, and of weights that no step reads
}

}  // namespace
}  // namespace tenon
