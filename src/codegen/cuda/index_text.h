// Index arithmetic as CUDA C++: 32 bits wherever the bounds of every partial result prove that they
// suffice, since a GPU computes 64 bits in several instructions.
#pragma once

#include <functional>
#include <string>

#include "tenon/dim.h"

namespace tenon::codegen::cuda {

struct IndexText {
  std::string text;   // ready to be an operand
  bool wide = false;  // an i64, else an i32
};

bool fits_i32(Bounds bounds);

// A symbol as the program has it, and how many loops are around it.
struct SymbolText {
  std::string text;
  bool wide = false;
  size_t depth = 0;
};
using SymbolTexts = std::function<SymbolText(const Symbol&)>;

// Terms stand outermost first, so that the partial sums are what does not change in inner loops.
IndexText index_text(const Dim& dim, const SymbolTexts& symbols);

}  // namespace tenon::codegen::cuda
