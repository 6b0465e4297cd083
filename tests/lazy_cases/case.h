// A case: an op, what it is given, and what NumPy makes of that. tests/python/write_numpy_cases.py
// writes them, one line per field:
//
//   case NAME OP
//   within ABSOLUTE RELATIVE          how far floats may be off
//   list 0 -1                         integers, as many lists as the op wants
//   number 0.5
//   text ij,jk->ik
//   dtype f16
//   input f32 2 3? 4 0000803f...      dtype, rank, extents (?: a variable when shapes are symbolic)
//   output f32 1 3 0000803f...        and the bytes; "-" where there are none
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tenon/dtype.h"

namespace tenon::cases {

struct Array {
  DType dtype = DType::F32;
  std::vector<int64_t> extents;
  std::vector<bool> may_vary;  // per axis
  std::vector<std::byte> bytes;
};

struct Case {
  std::string name, op;
  double absolute = 0, relative = 0;
  std::vector<std::vector<int64_t>> lists;
  std::vector<double> numbers;
  std::string text;
  DType dtype = DType::F32;
  std::vector<Array> inputs, outputs;
};

std::vector<Case> read_cases(const std::string& path);

// What differs, in a sentence; empty: nothing.
std::string difference(const Array& expected, const Array& got, double absolute, double relative);

}  // namespace tenon::cases
