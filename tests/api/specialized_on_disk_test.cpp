// Specializations that are looked for in memory, then on disk, then compiled. The model, by hand:
// y = x [batch, seq] * w.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tenon/tenon.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;

const DimBinding kExtents = DimBinding::batch_seq(1, 2);

std::pair<HirModule, ParamStore> model_with(float w) {
  HirModule m;
  const HirValue x = m.input("x", {{sym::batch(), sym::seq()}, DType::F32});
  m.set_outputs({{"y", m.op1("mul", {x, m.param("w", {{1}, DType::F32})})}});
  return {m, ParamStore({{"w", Floats{w}}})};
}

Floats run(CompiledGraph& graph) { return graph.run({{"x", Floats{1, 2}}})[0]; }

class SpecializedOnDisk : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }
  const std::string folder_ = std::filesystem::path(testing::TempDir()) /
                              ("tenon_specialized_on_disk_" + std::to_string(getpid()));
};

// As two processes would: each has a cache, and its own weights.
template <typename Cache>
void expect_found(const std::string& folder) {
  for (const bool before : {false, true}) {
    AotCache aot(folder);
    Cache cache(Device::Cpu(), 1);
    const float w = before ? 3 : 10;
    const auto get = [&](uint64_t key, const DimBinding& binding) {
      return cache.get_or_specialize_aot(aot, "model", key, binding, [&] { return model_with(w); });
    };
    const CompiledHandle graph = get(1, kExtents);
    EXPECT_EQ(graph->stats().from_disk, before);
    EXPECT_EQ(run(*graph), (Floats{w, 2 * w}));
    EXPECT_EQ(get(1, kExtents), graph);  // in memory
    EXPECT_EQ(aot.entries().size(), before ? 2u : 1u);
    get(2, DimBinding::batch_seq(3, 2));  // other extents are another entry
    EXPECT_EQ(aot.entries().size(), 2u);
    EXPECT_TRUE(get(1, kExtents)->stats().from_disk);  // evicted, and not compiled again
  }
}

TEST_F(SpecializedOnDisk, InMemoryThenOnDiskThenCompiled) {
  expect_found<DynamicDimCompileCache>(folder_);
}

TEST_F(SpecializedOnDisk, OfAPipelineToo) { expect_found<ModelCompilePipeline>(folder_); }

constexpr const char* kChild = "TENON_TEST_SPECIALIZED_ON_DISK";

void compile_and_tell() {
  for (const CompileMode mode : {CompileMode::Aot, CompileMode::Jit}) {
    ModelCompilePipeline pipeline(Device::Cpu());
    const auto [handle, manifest] = pipeline.get_or_compile_component(
        {.variant = {.batch = 1, .seq = 2}, .mode = mode}, [] { return model_with(10); });
    std::printf("told %d %g %s", handle->stats().from_disk, run(*handle.get())[1],
                to_string(manifest).substr(0, 9).c_str());
    std::printf(
        "; others from disk %d\n",
        pipeline.get_or_compile(kExtents, [] { return model_with(10); })->stats().from_disk);
  }
}

std::string told(const std::string& folder) {
  const std::string command =
      std::string(kChild) + "=1 TENON_CACHE_DIR=" + folder +
      " exec \"$(readlink /proc/$PPID/exe)\" "
      "--gtest_filter=SpecializedOnDisk.AComponentOfModeAotIsReadByTheNext*";
  std::FILE* child = popen(command.c_str(), "r");
  if (!child) return "no process";
  std::string text;
  char line[512];
  while (std::fgets(line, sizeof(line), child)) {
    if (std::string_view(line).starts_with("told")) text += line;
  }
  EXPECT_EQ(pclose(child), 0);
  return text;
}

// Who does not ask for it, in the same pipeline or another one, compiles.
TEST_F(SpecializedOnDisk, AComponentOfModeAotIsReadByTheNextProcess) {
  if (std::getenv(kChild)) return compile_and_tell();  // the other process
  const std::string jit = "told 0 20 input \"x\"; others from disk 0\n";
  EXPECT_EQ(told(folder_), jit + jit);
  EXPECT_EQ(told(folder_), "told 1 20 input \"x\"; others from disk 0\n" + jit);
}

}  // namespace
}  // namespace tenon
