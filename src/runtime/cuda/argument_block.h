// How a kernel is called on CUDA:
//
//   extern "C" __global__ void tenon_kernel(const unsigned long long* arguments)
//
// One pointer, to 64-bit words in device memory. What differs from run to run (extents, grids,
// memory) is in these words, so recorded launches stay good when it changes. A block computes work
// items blockIdx.x, blockIdx.x + gridDim.x, ... below the grid: any number of blocks is right.
#pragma once

namespace tenon::runtime::cuda {

inline constexpr const char* kKernelName = "tenon_kernel";

// Words of the block.
inline constexpr int kGridWord = 0;  // number of work items
// Device pointer; a block's piece begins at base + blockIdx.x * bytes.
inline constexpr int kScratchWord = 1;
inline constexpr int kScratchBytesWord = 2;  // of a block
// Device pointer: i64[4], as program.h says, then the step's number; set by atomicCAS on the first
// word from 0: the first one wins.
inline constexpr int kFaultWord = 3;
inline constexpr int kStepWord = 4;  // the step's number
// Pointers in the order of Step::buffers, then the values of Step::dims.
inline constexpr int kFirstBufferWord = 5;

inline constexpr int kFaultWordsOnDevice = 4;

}  // namespace tenon::runtime::cuda
