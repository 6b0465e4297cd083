// CompileOptions::disk_cache: Session keeps what it compiles in the folder of TENON_CACHE_DIR. Each
// process is one of its own: the test starts itself again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "codegen/llvm/generate.h"
#include "tenon/tenon.h"
#include "tools/make_encoder/encoder_model.h"

namespace tenon {
namespace {

constexpr const char* kModel = "TENON_TEST_MODEL";

void compile_and_tell(const std::string& model, std::optional<bool> disk_cache) {
  CompiledGraph graph = Session().compile_onnx(model, {.disk_cache = disk_cache});
  const std::vector<int64_t> ids = {1, 2, 3}, ones = {1, 1, 1}, zeros = {0, 0, 0};
  const auto hidden = graph.run({{"input_ids", view(ids, {1, 3})},
                                 {"attention_mask", view(ones, {1, 3})},
                                 {"token_type_ids", view(zeros, {1, 3})}})[0];
  std::printf("from disk %d, LLVM started %d, %.9g\n", graph.stats().from_disk,
              codegen::llvm_is_started(), hidden[0]);
}

std::string told(const std::string& environment) {
  const std::string command = environment +
                              " exec \"$(readlink /proc/$PPID/exe)\" "
                              "--gtest_filter=DiskCacheOption.TheNextProcessNeedsNoCompiler";
  std::FILE* child = popen(command.c_str(), "r");
  if (!child) return "no process";
  std::string text;
  char line[512];
  while (std::fgets(line, sizeof(line), child)) {
    if (std::string_view(line).starts_with("from disk")) text += line;
  }
  EXPECT_EQ(pclose(child), 0);
  return text;
}

TEST(DiskCacheOption, TheNextProcessNeedsNoCompiler) {
  if (const char* model = std::getenv(kModel)) {  // the other process
    compile_and_tell(model, true);
    compile_and_tell(model, std::nullopt);
    return;
  }
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) /
                                       ("tenon_disk_cache_option_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string model = folder / "model.onnx";
  std::ofstream(model, std::ios::binary) << make_encoder::encoder_model(
      {.layers = 1, .hidden = 64, .heads = 2, .ffn = 128, .vocab = 100, .maxpos = 64});
  const std::string here =
      std::string(kModel) + "=" + model + " TENON_CACHE_DIR=" + (folder / "cache").string();
  const std::string first = told(here), second = told(here);
  const auto figure = [](const std::string& text) { return text.substr(text.rfind(' ')); };
  EXPECT_TRUE(first.starts_with("from disk 0, LLVM started 1,")) << first;
  EXPECT_TRUE(second.starts_with("from disk 1, LLVM started 0,")) << second;
  // Who does not ask for it compiles.
  EXPECT_NE(second.find("\nfrom disk 0, LLVM started 1,"), std::string::npos) << second;
  EXPECT_EQ(figure(first), figure(second));

  AotCache cache(folder / "cache");
  EXPECT_TRUE(cache.why_onnx(model).found);
  const AotCache::Why narrow = cache.why_onnx(model, {.dim_bounds = {{"seq", {1, 8}}}});
  EXPECT_FALSE(narrow.found);
  EXPECT_EQ(narrow.differences.at(0).field, "symbols");
  std::filesystem::remove_all(folder);
}

// Code for a shape is made of kernels, which an entry has not: they are planned again.
TEST(DiskCacheOption, WhatWasFoundIsSpecializedToo) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) /
                                       ("tenon_special_from_disk_" + std::to_string(getpid()));
  Graph g;
  const Value x = g.input("x", {{sym::batch(), 4}, DType::F32});
  g.set_outputs({{"y", g.softmax(g.mul(x, x), 1)}});
  AotCache cache(folder);
  const CompileOptions options{.specialize = Specialization{.after = 1}};
  const CompiledGraph made = cache.compile(g, options);
  CompiledGraph found = cache.compile(g, options);
  EXPECT_TRUE(found.stats().from_disk);
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
  const NamedInputs inputs = {{"x", view(values, {2, 4})}};
  const auto before = found.run(inputs);
  found.run(inputs);
  found.wait_for_specialization();
  EXPECT_EQ(found.specialization_stats().shapes, 1);
  EXPECT_EQ(found.run(inputs), before);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tenon
