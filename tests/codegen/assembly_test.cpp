// What guards speed without a clock: in the innermost loops of the kernels that matter nothing is
// spilled, nothing is divided, and an FMA takes few instructions.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/llvm/generate.h"
#include "tests/codegen/assembly_loops.h"
#include "tests/codegen/compiled_kernel.h"

namespace tenon::kernel_test {
namespace {

int count(const Lines& lines, const std::function<bool(const std::string&)>& matches) {
  return static_cast<int>(std::count_if(lines.begin(), lines.end(), matches));
}
std::string joined(const Lines& loop) { return fmt::format("{}", fmt::join(loop, "\n")); }
bool is_fma(const std::string& line) { return line.starts_with("vfmadd"); }
// A whole vector at a fixed place of the stack; the tiles that live there are read with an index.
bool is_vector_spill(const std::string& line) {
  const bool fixed = line.find("(%rsp)") != std::string::npos;
  return fixed &&
         (line.find("%zmm") != std::string::npos || line.find("%ymm") != std::string::npos);
}
// Depth loops only multiply and add in one; the polynomials of an epilogue do other things too.
bool is_depth_loop(const Lines& loop) {
  return count(loop, is_fma) > 0 && count(loop, [](const std::string& line) {
                                      return line.starts_with("vmulps") ||
                                             line.starts_with("vaddps");
                                    }) == 0;
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

// None spills; the one with the most FMAs has little beside them. The registers of AVX2 do not hold
// what is turned.
void check_depth_loops(const std::string& text, const NamedIsa& isa) {
  const bool wide = isa.isa == codegen::Isa::Avx512;
  Lines widest;
  for (const Lines& loop : loops_of(text, isa)) {
    if (!is_depth_loop(loop) || (turns(loop) && !wide)) continue;
    EXPECT_EQ(count(loop, is_vector_spill), 0) << isa.name << "\n" << joined(loop);
    if (!turns(loop) && count(loop, is_fma) > count(widest, is_fma)) widest = loop;
  }
  // 12 rows of 2 vectors on AVX-512, 6 on AVX2 with half the registers.
  const int fmas = count(widest, is_fma);
  EXPECT_GE(fmas, wide ? 16 : 8) << isa.name << "\n" << joined(widest);
  EXPECT_LE(static_cast<double>(widest.size()), (wide ? 1.9 : 2.1) * fmas) << isa.name << "\n"
                                                                           << joined(widest);
}

TEST(Assembly, TheDepthLoopOfAContractionSpillsNothingAndIsMostlyFmas) {
  for (const auto& [depth, columns] : {std::pair{384, 1536}, {1536, 384}, {33, 40}}) {
    for (const NamedIsa& isa : isas()) {
      check_depth_loops(linear_case(depth, columns, {}).text, isa);
    }
  }
}

TEST(Assembly, TheContractionsOfAttentionSpillNothingAndAreMostlyFmas) {
  for (const int64_t width : {32, 64}) {
    for (const NamedIsa& isa : isas()) check_depth_loops(attention_case(4, 4, width).text, isa);
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
