#include "tenon/padded_rows.h"

#include "base/error.h"

namespace tenon {
namespace {

int64_t count_rows(const char* function, size_t length, int64_t inner) {
  if (inner < 1)
    throw user_error("[{}] a row of {} elements: at least 1 is needed", function, inner);
  const auto elements = static_cast<int64_t>(length);
  if (elements % inner != 0)
    throw user_error("[{}] {} elements are not whole rows of {}", function, elements, inner);
  return elements / inner;
}

}  // namespace

size_t padded_size(size_t length, int64_t inner, int64_t upper) {
  const int64_t rows = count_rows("pad_rows", length, inner);
  if (rows > upper) throw user_error("[pad_rows] {} rows exceed upper, {}", rows, upper);
  int64_t size = 0;
  if (__builtin_mul_overflow(upper, inner, &size))
    throw user_error("[pad_rows] {} rows of {} elements do not fit 64 bits", upper, inner);
  return static_cast<size_t>(size);
}

size_t sliced_size(size_t length, int64_t inner, int64_t rows) {
  const int64_t upper = count_rows("slice_rows", length, inner);
  if (rows < 0) throw user_error("[slice_rows] {} rows: 0 or more are needed", rows);
  if (rows > upper) throw user_error("[slice_rows] {} rows exceed upper, {}", rows, upper);
  return static_cast<size_t>(rows * inner);
}

}  // namespace tenon
