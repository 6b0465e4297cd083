// Messages about extents that a run defines: what the model says, not names of the compiler.
#include "types/wrong_extent.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(WrongExtent, SaysWhatTheModelAsksFor) {
  EXPECT_EQ(wrong_extent(Symbol("wrong_length.0", {0, 0}), 1),
            "a sequence length is negative or longer than the sequence");
  EXPECT_EQ(wrong_extent(Symbol("topk.3", {0, 4}), 5), "k = 5 is outside its bounds 0..4");
}

TEST(WrongExtent, NamesTheSymbolWhereNothingElseIsKnown) {
  EXPECT_EQ(wrong_extent(Symbol("n.1", {0, 4}), -1), "n.1 = -1 is outside its bounds 0..4");
}

}  // namespace
}  // namespace tenon
