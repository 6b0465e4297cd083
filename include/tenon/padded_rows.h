// Rows padded to the extent of a bucket, and cut to the rows there are. A row is `inner` elements,
// rows lie one after the other. A row of no elements, elements that are no whole rows, and more
// rows than there is room for are Errors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <vector>

namespace tenon {

// How many elements pad_rows makes of `length`, and slice_rows leaves of them.
size_t padded_size(size_t length, int64_t inner, int64_t upper);
size_t sliced_size(size_t length, int64_t inner, int64_t rows);

// The rows, and zeros up to `upper` of them. Allocates nothing where `to` has been as large before.
template <std::ranges::contiguous_range Rows>
void pad_rows_into(const Rows& rows, int64_t inner, int64_t upper,
                   std::vector<std::ranges::range_value_t<Rows>>& to) {
  const size_t size = padded_size(std::ranges::size(rows), inner, upper);
  to.assign(std::ranges::begin(rows), std::ranges::end(rows));
  to.resize(size);
}

template <std::ranges::contiguous_range Rows>
std::vector<std::ranges::range_value_t<Rows>> pad_rows(const Rows& rows, int64_t inner,
                                                       int64_t upper) {
  std::vector<std::ranges::range_value_t<Rows>> padded;
  pad_rows_into(rows, inner, upper, padded);
  return padded;
}

// The first `rows` of them.
template <std::ranges::contiguous_range Padded>
std::vector<std::ranges::range_value_t<Padded>> slice_rows(const Padded& padded, int64_t inner,
                                                           int64_t rows) {
  const size_t size = sliced_size(std::ranges::size(padded), inner, rows);
  return {std::ranges::begin(padded), std::ranges::begin(padded) + static_cast<ptrdiff_t>(size)};
}

}  // namespace tenon
