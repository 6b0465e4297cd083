// What `tenon run` keeps on disk, and `tenon cache`, which looks at it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/cli/cli.h"

namespace tenon {
namespace {

using CacheCli = Cli;

TEST_F(CacheCli, WhatRanBeforeIsNotCompiledAgain) {
  const std::string run = "run " + path("model.onnx") + " --dim batch=2 --dim seq=8";
  EXPECT_EQ(tenon("cache clear").code, 0);
  const Outcome first = tenon(run), second = tenon(run), without = tenon(run + " --no-cache");
  EXPECT_NE(first.err.find("kernels compiled in"), std::string::npos) << first.err;
  EXPECT_NE(second.err.find("kernels from the disk cache in"), std::string::npos) << second.err;
  EXPECT_NE(without.err.find("kernels compiled in"), std::string::npos) << without.err;
  EXPECT_EQ(first.out, second.out);
  EXPECT_EQ(first.out, without.out);
}

TEST_F(CacheCli, ProcessesThatStartColdCompileOnce) {
  EXPECT_EQ(tenon("cache clear").code, 0);
  std::string together;
  for (int i = 0; i < 8; ++i)
    together += fmt::format(
        "TENON_CACHE_DIR={} {}/bin/tenon run {} --dim batch=1 --dim seq=4 "
        ">{}.{} 2>&1 & ",
        path("cache"), TENON_BINARY_DIR, path("model.onnx"), path("cold"), i);
  ASSERT_EQ(std::system((together + "wait").c_str()), 0);
  int compiled = 0, read = 0;
  for (int i = 0; i < 8; ++i) {
    const std::string text = contents(fmt::format("{}.{}", path("cold"), i));
    compiled += text.find("kernels compiled in") != std::string::npos;
    read += text.find("kernels from the disk cache in") != std::string::npos;
    EXPECT_NE(text.find("last_hidden_state f32[1, 4, 64]"), std::string::npos) << text;
  }
  EXPECT_EQ(compiled, 1);
  EXPECT_EQ(read, 7);
}

TEST_F(CacheCli, ShowsChecksAndClearsTheCache) {
  const std::string model = path("model.onnx");
  EXPECT_EQ(tenon("cache clear").code, 0);
  EXPECT_EQ(tenon("cache why " + model).out, model + ": not there, the cache is empty\n");
  EXPECT_EQ(tenon("run " + model + " --dim batch=1 --dim seq=4").code, 0);
  EXPECT_NE(tenon("cache why " + model).out.find(model + ": there, "), std::string::npos);
  EXPECT_EQ(tenon("cache why " + model + " --precision always_bf16").out,
            model +
                ": not there; the nearest entry differs in\n"
                "  precision_policy: wanted always_bf16, kept always_f32\n");
  const std::string listed = tenon("cache ls").out;
  EXPECT_NE(listed.find(path("cache") + ": 1 entry, "), std::string::npos) << listed;
  EXPECT_NE(listed.find("-> last_hidden_state f32[batch, seq, 64]"), std::string::npos) << listed;

  EXPECT_EQ(tenon("cache verify").out, path("cache") + ": 1 entry, 0 damaged\n");
  for (const auto& file : std::filesystem::directory_iterator(path("cache"))) {
    if (file.path().filename().string().size() == 64)
      std::filesystem::resize_file(file.path(), file.file_size() - 1);
  }
  const Outcome damaged = tenon("cache verify");
  EXPECT_EQ(damaged.code, 1);
  EXPECT_NE(damaged.out.find(": 1 entry, 1 damaged\n"), std::string::npos) << damaged.out;
  EXPECT_EQ(tenon("cache verify --remove").code, 0);
  EXPECT_EQ(tenon("cache ls").out, path("cache") + ": 0 entries, 0.0 KB\n");
}

TEST_F(CacheCli, AModelIsNotReplacedByWhatIsCompiledOfIt) {
  expect_error("compile " + path("model.onnx") + " -o " + path("model.onnx"), 2,
               "is the model itself");
  EXPECT_EQ(tenon("run " + path("model.onnx") + " --dim batch=1 --dim seq=4").code, 0);
}

TEST_F(CacheCli, CacheErrorsSayWhatToDo) {
  expect_error("cache", 2, "`tenon cache` needs one of: ls, why, verify, clear");
  expect_error("cache lss", 2, "`tenon cache` needs one of: ls, why, verify, clear");
  expect_error("cache why none.onnx", 1, "none.onnx");
  expect_error("cache ls --dir " + path("model.onnx"), 1, "cannot be used");
}

}  // namespace
}  // namespace tenon
