#include "tenon/padded_rows.h"

#include <gtest/gtest.h>

#include <span>

#include "tests/error_of.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;

void expect_error(const std::string& part, const std::string& text) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(PaddedRows, ZerosFollowTheRows) {
  EXPECT_EQ(pad_rows(Floats{1, 2, 3, 4}, 2, 3), (Floats{1, 2, 3, 4, 0, 0}));
  EXPECT_EQ(pad_rows(Floats{1, 2}, 2, 1), (Floats{1, 2}));
  EXPECT_EQ(pad_rows(Floats{}, 2, 2), (Floats{0, 0, 0, 0}));
  const std::vector<int64_t> ids = {101, 102};
  EXPECT_EQ(pad_rows(std::span(ids), 1, 3), (std::vector<int64_t>{101, 102, 0}));
  EXPECT_EQ(padded_size(4, 2, 3), 6u);
}

TEST(PaddedRows, IntoMemoryOfMineNothingOfBeforeIsLeft) {
  Floats to(6, 9);
  const float* const memory = to.data();
  pad_rows_into(Floats{1, 2}, 2, 3, to);
  EXPECT_EQ(to, (Floats{1, 2, 0, 0, 0, 0}));
  EXPECT_EQ(to.data(), memory);
}

TEST(PaddedRows, ASliceIsTheFirstRows) {
  EXPECT_EQ(slice_rows(Floats{1, 2, 3, 4, 0, 0}, 2, 2), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(slice_rows(Floats{1, 2}, 2, 0), Floats{});
  EXPECT_EQ(sliced_size(6, 2, 3), 6u);
}

TEST(PaddedRows, WhatIsNoRowsIsAnError) {
  expect_error("a row of 0 elements", user_error_of([] { pad_rows(Floats{1}, 0, 3); }));
  expect_error("a row of -1 elements", user_error_of([] { pad_rows(Floats{1}, -1, 3); }));
  expect_error("3 elements are not whole rows of 2",
               user_error_of([] { pad_rows(Floats{1, 2, 3}, 2, 3); }));
  expect_error("2 rows exceed upper, 1", user_error_of([] { pad_rows(Floats{1, 2}, 1, 1); }));
  expect_error("64 bits", user_error_of([] { pad_rows(Floats{1, 2}, 2, INT64_MAX); }));
  expect_error("a row of 0 elements", user_error_of([] { slice_rows(Floats{1}, 0, 1); }));
  expect_error("3 elements are not whole rows of 2",
               user_error_of([] { slice_rows(Floats{1, 2, 3}, 2, 1); }));
  expect_error("3 rows exceed upper, 2", user_error_of([] { slice_rows(Floats{1, 2}, 1, 3); }));
  expect_error("-1 rows", user_error_of([] { slice_rows(Floats{1, 2}, 1, -1); }));
  Floats to = {7};
  expect_error("exceed upper", user_error_of([&] { pad_rows_into(Floats{1, 2}, 1, 1, to); }));
  EXPECT_EQ(to, Floats{7});  // as it was
}

}  // namespace
}  // namespace tenon
