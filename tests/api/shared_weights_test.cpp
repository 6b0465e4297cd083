// Graphs that read the same weights hold them once, whatever else they are compiled for.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/weight_pool.h"
#include "tenon/tenon.h"
#include "tools/make_encoder/encoder_model.h"

namespace tenon {
namespace {

class SmallEncoder {
 public:
  SmallEncoder() {
    std::ofstream(path_, std::ios::binary) << make_encoder::encoder_model(
        {.layers = 2, .hidden = 64, .heads = 2, .ffn = 128, .vocab = 100});
  }
  ~SmallEncoder() { std::filesystem::remove(path_); }

  CompiledGraph compile(int64_t seq) const {
    return Session().compile_onnx(path_, {.dim_binding = {{"batch", 2}, {"seq", seq}}});
  }

  const std::string path_ = (std::filesystem::temp_directory_path() /
                             ("tenon_shared_weights_" + std::to_string(getpid()) + ".onnx"))
                                .string();
};

std::vector<float> run(CompiledGraph& graph, int64_t seq) {
  const auto count = static_cast<size_t>(2 * seq);
  std::vector<int64_t> ids(count), ones(count, 1), zeros(count);
  for (size_t i = 0; i < count; ++i) ids[i] = static_cast<int64_t>(i * 7 % 100);
  return graph.run({{"input_ids", view(ids, {2, seq})},
                    {"attention_mask", view(ones, {2, seq})},
                    {"token_type_ids", view(zeros, {2, seq})}})[0];
}

TEST(SharedWeights, OfAModelFileAreHeldOnceForAllBuckets) {
  const int64_t before = runtime::bytes_of_all_weights();
  const SmallEncoder encoder;
  {
    CompiledGraph one = encoder.compile(8);
    run(one, 8);
    const int64_t of_one = runtime::bytes_of_all_weights() - before;
    EXPECT_GT(of_one, 0);
    CompiledGraph two = encoder.compile(16), three = encoder.compile(24);
    run(two, 16);
    run(three, 24);
    EXPECT_LE(static_cast<double>(runtime::bytes_of_all_weights() - before),
              1.05 * static_cast<double>(of_one));
  }
  EXPECT_EQ(runtime::bytes_of_all_weights(), before);
}

TEST(SharedWeights, OfAGraphAreNotChangedBySetParamOfAnother) {
  Graph g;
  const std::vector<float> w(16 * 16, 0.5F);
  const auto x = g.input("x", {{sym::batch(), 16}, DType::F32});
  const auto weight = g.param("w", {{16, 16}, DType::F32}, std::as_bytes(std::span(w)));
  g.set_outputs({{"y", g.linear(x, weight)}});
  const auto compile = [&](int64_t batch) {
    return Session().compile(g, {.dim_binding = {{"batch", batch}}});
  };
  CompiledGraph one = compile(1), two = compile(2);
  const std::vector<float> ones(32, 1);
  EXPECT_EQ(one.run({{"x", view(std::span(ones).first(16), {1, 16})}})[0],
            std::vector<float>(16, 8));
  one.set_param("w", view(std::vector<float>(16 * 16, 2), {16, 16}));
  EXPECT_EQ(two.run({{"x", view(ones, {2, 16})}})[0], std::vector<float>(32, 8));
  EXPECT_EQ(one.run({{"x", view(std::span(ones).first(16), {1, 16})}})[0],
            std::vector<float>(16, 32));
}

}  // namespace
}  // namespace tenon
