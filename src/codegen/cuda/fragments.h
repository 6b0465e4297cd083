// How a block's tile lies in the fragments of tensor cores: a grid of warps, in each of them
// fragments of 16 x 8, whose elements threads hold as the instruction defines it.
#pragma once

#include "kernel/kernel.h"

namespace tenon::codegen::cuda {

struct Fragments {
  int64_t down, across;                       // fragments of a warp
  int64_t warps_across;                       // warps side by side
  int64_t rows() const { return down * 16; }  // of a warp
  int64_t cols() const { return across * 8; }
};

// Throws Internal where the tile's elements lie otherwise.
Fragments fragments_of(const kernel::TileMma& tile, const std::string& kernel);

// An operand in shared memory: element (outer, k) lies at first + outer*outer_stride + k*k_stride.
struct OperandStrides {
  Dim first;
  int64_t outer, k;
};
OperandStrides operand_strides(const kernel::Expr& load, const Symbol& outer, const Symbol& k,
                               const std::string& kernel);

}  // namespace tenon::codegen::cuda
