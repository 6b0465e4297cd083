// What guards speed without a clock: in the innermost loops of the kernels that matter nothing is
// spilled, nothing is divided, and a product takes few instructions. What contractions of each
// dtype may cost is a table.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/llvm/generate.h"
#include "tests/codegen/assembly_loops.h"
#include "tests/codegen/compiled_kernel.h"
#include "tests/schedule/dot4_cases.h"

namespace tenon::kernel_test {
namespace {

int count(const Lines& lines, const std::function<bool(const std::string&)>& matches) {
  return static_cast<int>(std::count_if(lines.begin(), lines.end(), matches));
}
std::string joined(const Lines& loop) { return fmt::format("{}", fmt::join(loop, "\n")); }
// A whole vector at a fixed place of the stack; the tiles that live there are read with an index.
bool is_vector_spill(const std::string& line) {
  const bool fixed = line.find("(%rsp)") != std::string::npos;
  return fixed &&
         (line.find("%zmm") != std::string::npos || line.find("%ymm") != std::string::npos);
}
// A loop that turns rows of its right operand into columns, in registers.
bool turns(const Lines& loop) {
  return count(loop, [](const std::string& line) {
           return line.starts_with("vunpck") || line.starts_with("vperm") ||
                  line.starts_with("vshuf");
         }) > 0;
}
bool is_division(const std::string& line) {
  return line.starts_with("idiv") || line.starts_with("div");
}

std::vector<Lines> loops_of(const std::string& text, const NamedIsa& isa) {
  const auto scheduled = schedule::schedule(kernel::parse(text), isa.target);
  return FlowGraph(instructions(codegen::assembly(scheduled.kernel, isa.isa))).innermost_loops();
}

// The loop over k of a contraction: what multiplies and adds there, how many of these it has at
// least (fewer would not cover their latency), and how many instructions each may take, with loads,
// broadcasts and counting.
struct DepthLoop {
  const char* name;
  NamedIsa isa;
  std::vector<Case> cases;
  const char* step;
  int fewest;
  double most;
};

// Per k a tile of 8 rows and 2 vectors (on AVX2 6 and 2) has 16 (12) products, 2 loads of panels
// and 8 (6) broadcasts: 26/16 = 1.6 (20/12 = 1.7). A prefetch with its address and the counting of
// k are 6 more, for four k at once but where the depth is no multiple of 4: 32/16 = 2.0 (26/12 =
// 2.2). Where rows of bf16 are widened first, a row takes 4 instead of 1 (load, shift, move,
// broadcast): 38/12 = 3.2 on AVX2, 50/16 = 3.1 on AVX-512. Products of 8-bit integers as i32 are
// not held against this: their tiles do not fit into registers.
std::vector<DepthLoop> depth_loops() {
  const NamedIsa avx2 = isas()[0], avx512 = isas()[1];
  NamedIsa dots = avx512;
  dots.target = dots_target();
  const std::vector<Case> f32 = {linear_case(384, 1536, {}), linear_case(1536, 384, {})},
                          odd = {linear_case(33, 40, {})},
                          attention = {attention_case(4, 4, 32), attention_case(4, 4, 64)},
                          bf16 = {bf16_linear_case(384, 1536, {}), bf16_linear_case(1536, 384, {})},
                          bytes = {byte_linear_case(384, 1536, {}),
                                   byte_linear_case(1536, 384, {})};
  return {
      {"f32", avx2, f32, "vfmadd", 8, 2.1},
      {"f32", avx512, f32, "vfmadd", 16, 1.9},
      {"f32, one k at a time", avx2, odd, "vfmadd", 8, 2.2},
      {"f32, one k at a time", avx512, odd, "vfmadd", 16, 2.1},
      {"attention", avx2, attention, "vfmadd", 8, 2.1},
      {"attention", avx512, attention, "vfmadd", 16, 1.9},
      {"bf16", avx2, bf16, "vfmadd", 8, 3.4},
      {"bf16", avx512, bf16, "vfmadd", 16, 3.4},
      {"bf16 in pairs", dots, bf16, "vdpbf16ps", 16, 1.9},
      {"bytes in fours", dots, bytes, "vpdpbusd", 16, 1.9},
  };
}

// Depth loops only multiply and add in one; the polynomials of an epilogue do other things too.
bool is_depth_loop(const Lines& loop, const DepthLoop& row) {
  const auto is_step = [&](const std::string& line) { return line.starts_with(row.step); };
  return count(loop, is_step) > 0 && count(loop, [](const std::string& line) {
                                       return line.starts_with("vmulps") ||
                                              line.starts_with("vaddps");
                                     }) == 0;
}

// None spills; the one with the most products has little beside them. The registers of AVX2 do not
// hold what is turned.
void check_depth_loops(const Case& test, const DepthLoop& row) {
  const std::string what = fmt::format("{} {} {}", row.name, test.name, row.isa.name);
  const bool wide = row.isa.isa == codegen::Isa::Avx512;
  const auto steps = [&](const Lines& loop) {
    return count(loop, [&](const std::string& line) { return line.starts_with(row.step); });
  };
  Lines widest;
  for (const Lines& loop : loops_of(test.text, row.isa)) {
    if (!is_depth_loop(loop, row) || (turns(loop) && !wide)) continue;
    EXPECT_EQ(count(loop, is_vector_spill), 0) << what << "\n" << joined(loop);
    if (!turns(loop) && steps(loop) > steps(widest)) widest = loop;
  }
  EXPECT_GE(steps(widest), row.fewest) << what << "\n" << joined(widest);
  EXPECT_LE(static_cast<double>(widest.size()), row.most * steps(widest)) << what << "\n"
                                                                          << joined(widest);
}

TEST(Assembly, TheDepthLoopOfAContractionSpillsNothingAndIsMostlyProducts) {
  for (const DepthLoop& row : depth_loops()) {
    for (const Case& test : row.cases) check_depth_loops(test, row);
  }
}

TEST(Assembly, NoInnermostLoopDividesIntegers) {
  std::vector<Case> cases = contraction_cases();
  for (Case& test : reduction_cases()) cases.push_back(test);
  for (const Case& test : cases) {
    for (const NamedIsa& isa : isas()) {
      for (const Lines& loop : loops_of(test.text, isa)) {
        EXPECT_EQ(count(loop, is_division), 0) << test.name << " " << isa.name << "\n"
                                               << joined(loop);
      }
    }
  }
}

// A guard that whole vectors meet or miss is a choice of the address: masked loads of pages that
// are not there are slow though they load nothing. Parts joined along the columns are such loads.
TEST(Assembly, WholeVectorsAreReadWithoutMasks) {
  const auto joined_at = [](int64_t first) {
    return fmt::format(
        "kernel k lowered dims m: 1..4096\n"
        "  buffer a: f32[m*{0}] global argument 0\n"
        "  buffer b: f32[m*64] global argument 1\n"
        "  buffer y: f32[m*{1}] global argument 2 written\n"
        "  parallel i in m\n"
        "    parallel j in {1}\n"
        "      y[i*{1} + j] = select(in_range(j - {0}, 64), b[i*64 + j - {0}] if 0 <= j - {0} < "
        "64, "
        "a[i*{0} + j] if 0 <= j < {0})\n",
        first, first + 64);
  };
  const auto masked_loads = [&](int64_t first) {
    const NamedIsa avx512 = isas()[1];
    const auto scheduled = schedule::schedule(kernel::parse(joined_at(first)), avx512.target);
    return count(instructions(codegen::assembly(scheduled.kernel, avx512.isa)),
                 [](const std::string& line) { return line.find("{z}") != std::string::npos; });
  };
  EXPECT_EQ(masked_loads(96), 0);
  EXPECT_GT(masked_loads(90), 0);
}

// LLVM has its own conversion of vectors to so few bits one lane at a time.
TEST(Assembly, FloatsBecomeBytesAsVectors) {
  for (const char* dtype : {"u8", "i8", "u16", "i16"}) {
    const auto kernel =
        kernel::parse(fmt::format("kernel k lowered dims n: 1..4096\n"
                                  "  buffer x: f32[n] global argument 0\n"
                                  "  buffer y: {0}[n] global argument 1 written\n"
                                  "  parallel i in n\n"
                                  "    y[i] = cast({0}, x[i])\n",
                                  dtype));
    for (const NamedIsa& isa : isas()) {
      const auto scheduled = schedule::schedule(kernel, isa.target);
      for (const std::string& line : instructions(codegen::assembly(scheduled.kernel, isa.isa)))
        EXPECT_FALSE(line.starts_with("vcvttss2si")) << dtype << " " << isa.name << ": " << line;
    }
  }
}

TEST(Assembly, CallsNothing) {
  for (const Case& test : all_cases()) {
    for (const NamedIsa& isa : isas()) {
      const auto scheduled = schedule::schedule(kernel::parse(test.text), isa.target);
      for (const std::string& line : instructions(codegen::assembly(scheduled.kernel, isa.isa))) {
        EXPECT_FALSE(line.starts_with("call")) << test.name << ": " << line;
      }
    }
  }
}

}  // namespace
}  // namespace tenon::kernel_test
