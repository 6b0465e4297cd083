// Kernels whose dims became numbers: what their text is, that they are legal, and that the
// interpreter gives the same bits for them.
#include "kernel/fix_dims.h"

#include <gtest/gtest.h>

#include "tests/kernel/texts.h"

namespace tenon::kernel {
namespace {

std::string fixed(const std::string& text, std::vector<int64_t> values) {
  const Kernel kernel = fix_dims(parse(text), values);
  verify(kernel);
  return print(kernel);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

TEST(FixDims, MakesNumbersOfDimsEverywhere) {
  const std::string text =
      "kernel k scheduled dims m: 1..100, n: 1..100\n"
      "  buffer x: f32[m*n] global argument 0\n"
      "  buffer y: f32[m*n] global argument 1 written\n"
      "  flops m*n\n"
      "  bytes m*n*8\n"
      "  thread i in m\n"
      "    loop j in n\n"
      "      y[i*n + j] = x[i*n + j]\n";
  EXPECT_EQ(fixed(text, {3, 7}),
            "kernel k scheduled dims m: 1..100, n: 1..100\n"
            "  buffer x: f32[21] global argument 0\n"
            "  buffer y: f32[21] global argument 1 written\n"
            "  flops 21\n"
            "  bytes 168\n"
            "  thread i in 3\n"
            "    loop j in 7\n"
            "      y[i*7 + j] = x[i*7 + j]\n");
}

TEST(FixDims, LeavesOutGuardsThatAlwaysHold) {
  EXPECT_NE(fixed(texts::kGuarded, {33}).find("when 0 <= l + t*16 < 33"), std::string::npos);
  EXPECT_EQ(fixed(texts::kGuarded, {32}),
            "kernel guarded scheduled dims m: 1..65536\n"
            "  buffer x: f32[32] global argument 0\n"
            "  buffer y: f32[32] global argument 1 written\n"
            "  flops 32\n"
            "  bytes 256\n"
            "  thread t in 2\n"
            "    vector l in 16\n"
            "      y[l + t*16] = max(x[l + t*16], f32(0))\n");
}

TEST(FixDims, KnowsTheIndexOfALoopThatRunsOnce) {
  EXPECT_NE(fixed(texts::kGuarded, {16}).find("y[l] = max(x[l], f32(0))\n"), std::string::npos);
}

TEST(FixDims, LeavesOutLoopsOverNothing) {
  const std::string text =
      "kernel k scheduled dims m: 1..100\n"
      "  buffer y: f32[m] global argument 0 written\n"
      "  flops 0\n"
      "  bytes 0\n"
      "  thread t in 1\n"
      "    loop c in floordiv(m, 16)\n"
      "      loop d in 16\n"
      "        y[c*16 + d] = f32(1)\n"
      "    loop e in m - floordiv(m, 16)*16\n"
      "      y[floordiv(m, 16)*16 + e] = f32(2)\n";
  EXPECT_EQ(fixed(text, {7}),
            "kernel k scheduled dims m: 1..100\n"
            "  buffer y: f32[7] global argument 0 written\n"
            "  flops 0\n"
            "  bytes 0\n"
            "  thread t in 1\n"
            "    loop e in 7\n"
            "      y[e] = f32(2)\n");
  EXPECT_EQ(fixed(text, {32}).find("loop e"), std::string::npos);
}

TEST(FixDims, LeavesOutStepsThatALadderNeverTakes) {
  const std::string tiled = fixed(texts::kLinearTiled, {2});
  EXPECT_NE(tiled.find("ladder i in 2 rows r steps 2 1\n"), std::string::npos) << tiled;
  EXPECT_NE(tiled.find("specialize r in 2 1\n"), std::string::npos) << tiled;
  const std::string all = fixed(texts::kLinearTiled, {20});  // blocks of 6 rows, and of 2
  EXPECT_NE(all.find("steps 4 2 1\n"), std::string::npos) << all;
}

TEST(FixDims, GivesTheSameBits) {
  const Kernel kernel = parse(texts::kLinearTiled);
  for (const int64_t m : {1, 2, 3, 5, 6, 7, 20}) {
    std::vector<float> x, w, b, y(static_cast<size_t>(m * 32)), z = y;
    for (int64_t i = 0; i < m * 8; ++i) x.push_back(1.0F / static_cast<float>(3 + i % 17));
    for (int64_t i = 0; i < 256; ++i) w.push_back(1.0F / static_cast<float>(7 - i % 31 * 2));
    for (int64_t i = 0; i < 32; ++i) b.push_back(static_cast<float>(i) / 9);
    const std::vector<int64_t> dims = {m};
    const auto run = [&](const Kernel& which, std::vector<float>& to) {
      void* const buffers[] = {x.data(), w.data(), b.data(), to.data(), nullptr, nullptr};
      int64_t fault[3] = {};
      interpret(which, buffers, dims, fault);
      EXPECT_EQ(fault[0], 0);
    };
    run(kernel, y);
    run(fix_dims(kernel, dims), z);
    EXPECT_EQ(y, z) << m;
  }
}

TEST(FixDims, OfEqualKernelsGivesEqualTexts) {
  const Kernel one = parse(texts::kLinearTiled);
  const Kernel other = parse(replaced(texts::kLinearTiled, "kernel linear", "kernel another"));
  const std::vector<int64_t> dims = {4}, more = {5};
  EXPECT_EQ(canonical_text(fix_dims(one, dims)), canonical_text(fix_dims(other, dims)));
  EXPECT_NE(canonical_text(fix_dims(one, dims)), canonical_text(fix_dims(one, more)));
}

}  // namespace
}  // namespace tenon::kernel
