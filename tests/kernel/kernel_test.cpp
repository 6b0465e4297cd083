// What a kernel says about itself, and collapse_loops.
#include "kernel/kernel.h"

#include <gtest/gtest.h>

#include "tests/kernel/texts.h"

namespace tenon::kernel {
namespace {

TEST(KernelFreeSymbols, AreThoseThatNothingBinds) {
  EXPECT_EQ(free_symbols(parse(texts::kSoftmax)), (std::vector{Symbol("m"), Symbol("n")}));
  EXPECT_EQ(free_symbols(parse(texts::kLinearTiled)), std::vector{Symbol("m")});
  EXPECT_EQ(free_symbols(parse(texts::kGather)), std::vector{Symbol("n")});
}

Kernel rows(const std::string& offset) {
  return parse(
      "kernel rows lowered dims b: 1..64, cap: 1..512, s: 1..512\n"
      "  buffer x: f32[b*cap*8] global argument 0\n"
      "  buffer y: f32[b*s*8] global argument 1 written\n"
      "  parallel i in b\n"
      "    parallel j in s\n"
      "      parallel k in 8\n"
      "        y[i*s*8 + j*8 + k] = x[" +
      offset + "]\n");
}

TEST(CollapseLoops, MergesRowsThatEveryAccessAddressesAsOne) {
  const Kernel k = collapse_loops(rows("i*s*8 + j*8 + k"));
  const auto* outer = k.body.at(0).as<Loop>();
  ASSERT_NE(outer, nullptr);
  const Dim all = Dim(Symbol("b")) * Dim(Symbol("s")) * 8;
  EXPECT_EQ(outer->extent, all);
  ASSERT_EQ(outer->body->size(), 1u);
  const auto* copy = outer->body->at(0).as<Store>();
  ASSERT_NE(copy, nullptr) << print(k);
  EXPECT_EQ(copy->offset, Dim(outer->symbol));
  EXPECT_EQ(copy->value->index, Dim(outer->symbol));
}

TEST(CollapseLoops, KeepsLoopsApartWhereStridesDiffer) {
  const Kernel k = collapse_loops(rows("i*cap*8 + j*8 + k"));
  const auto* outer = k.body.at(0).as<Loop>();
  ASSERT_NE(outer, nullptr);
  EXPECT_EQ(outer->extent, Dim(Symbol("b")));  // rows of different capacity stay apart
  const auto* inner = outer->body->at(0).as<Loop>();
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner->extent, Dim(Symbol("s")) * 8);
}

}  // namespace
}  // namespace tenon::kernel
