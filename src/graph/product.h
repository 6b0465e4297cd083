// The matrix product of the interpreter. Each sum runs in ascending order of the contracted axis;
// blocks of rows and columns only keep operands in the cache, so that large models finish.
#pragma once

#include <algorithm>
#include <cstddef>

namespace tenon::graph {

// c [rows, columns] += a [rows, depth] * b [depth, columns], row-major; `T` is double or uint64_t.
template <typename T>
void add_product(const T *a, const T *b, T *c, size_t rows, size_t columns, size_t depth) {
  constexpr size_t kDepth = 64, kColumns = 512;
  for (size_t left = 0; left < columns; left += kColumns) {
    const size_t width = std::min(kColumns, columns - left);
    for (size_t top = 0; top < depth; top += kDepth) {
      const size_t bottom = std::min(depth, top + kDepth);
      for (size_t i = 0; i < rows; ++i) {
        T *const row = c + i * columns + left;
        const T *const factors = a + i * depth, *const block = b + left;
        size_t p = top;
        for (; p + 4 <= bottom; p += 4) {
          const T f0 = factors[p], f1 = factors[p + 1], f2 = factors[p + 2], f3 = factors[p + 3];
          const T *const b0 = block + p * columns, *const b1 = b0 + columns;
          const T *const b2 = b1 + columns, *const b3 = b2 + columns;
          for (size_t j = 0; j < width; ++j) {
            row[j] = row[j] + f0 * b0[j] + f1 * b1[j] + f2 * b2[j] + f3 * b3[j];
          }
        }
        for (; p < bottom; ++p) {
          for (size_t j = 0; j < width; ++j) row[j] += factors[p] * block[p * columns + j];
        }
      }
    }
  }
}

}  // namespace tenon::graph
