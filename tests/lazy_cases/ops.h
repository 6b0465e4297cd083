// What the cases call: a row per op, the code that a user would write for it.
#pragma once

#include <span>
#include <string_view>

#include "tenon/lazy_tensor.h"
#include "tests/lazy_cases/case.h"

namespace tenon::cases {

struct Arguments {
  Tensor x, y, z;           // the first inputs; no tensor where there are fewer
  std::vector<Tensor> all;  // all of them
  Extents extents;          // of the first input, variables where the shapes are symbolic
  const Case* from;

  const std::vector<int64_t>& list(size_t i = 0) const { return from->lists.at(i); }
  int64_t integer(size_t i = 0, size_t in_list = 0) const { return list(in_list).at(i); }
  bool flag(size_t i = 0, size_t in_list = 0) const { return integer(i, in_list) != 0; }
  double number(size_t i = 0) const { return from->numbers.at(i); }
  DType dtype() const { return from->dtype; }
  const std::string& text() const { return from->text; }
  const Tensor& operator[](size_t i) const { return all.at(i); }
};

struct Results : std::vector<Tensor> {
  Results(const Tensor& one) : std::vector<Tensor>{one} {}  // NOLINT(google-explicit-constructor)
  Results(std::vector<Tensor> all)                          // NOLINT(google-explicit-constructor)
      : std::vector<Tensor>(std::move(all)) {}
};

struct OpRow {
  std::string_view name;
  Results (*write)(const Arguments& a);
};

std::span<const OpRow> elementwise_ops();
std::span<const OpRow> movement_ops();
std::span<const OpRow> reduction_ops();
std::span<const OpRow> product_ops();
std::span<const OpRow> position_ops();
std::span<const OpRow> creation_ops();

const OpRow& find_op(std::string_view name);  // of none: an Error

}  // namespace tenon::cases
