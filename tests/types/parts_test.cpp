// What public types are made of: the terms of a Dim, the sides of a Constraint, kinds of dtypes.
#include <gtest/gtest.h>

#include <set>

#include "tenon/dim.h"
#include "tenon/dtype.h"

namespace tenon {
namespace {

TEST(DimParts, AreTermsOfAtoms) {
  const Symbol n("n"), m("m");
  const Dim dim = Dim(n) * m * 3 + floordiv(n, 2) + min(n, m) + max(n, Dim(m) * m) + 5;
  std::set<AtomKind> kinds;
  for (const Dim::Term& term : dim.terms()) {
    if (term.atoms.size() == 2) EXPECT_EQ(term.coefficient, 3);
    for (const auto& atom : term.atoms) {
      kinds.insert(atom->kind);
      EXPECT_EQ(atom->symbol.has_value(), atom->kind == AtomKind::Symbol);
      EXPECT_EQ(atom->args.size(), atom->kind == AtomKind::Symbol ? 0u : 2u);
      if (atom->kind == AtomKind::FloorDiv) EXPECT_TRUE(atom->args[1].is_const(2));
    }
  }
  EXPECT_EQ(kinds, (std::set{AtomKind::Symbol, AtomKind::FloorDiv, AtomKind::Min, AtomKind::Max}));
  EXPECT_EQ(dim.terms().size(), 5u);
  EXPECT_TRUE(dim.terms().back().atoms.empty());  // the constant
  EXPECT_EQ(dim.terms().back().coefficient, dim.constant_term());
}

TEST(Constraints, SayWhatMustHoldAndWhy) {
  Constraint constraint{Constraint::Kind::AtMost, Symbol("n"), 8, "slice"};
  EXPECT_EQ(constraint.to_string(), "n <= 8 (slice)");
  constraint.kind = Constraint::Kind::Broadcastable;
  std::swap(constraint.left, constraint.right);
  constraint.why = "add";
  EXPECT_EQ(constraint.to_string(), "8 broadcasts with n (add)");
  constraint.kind = Constraint::Kind::Equal;
  EXPECT_EQ(constraint.to_string(), "8 == n (add)");
}

TEST(DTypes, HaveKinds) {
  EXPECT_EQ(info(DType::Bool).kind, DTypeKind::Bool);
  EXPECT_EQ(info(DType::U4).kind, DTypeKind::Unsigned);
  EXPECT_EQ(info(DType::I64).kind, DTypeKind::Signed);
  EXPECT_EQ(info(DType::BF16).kind, DTypeKind::Float);
  EXPECT_TRUE(is_float(DType::F8E5M2));
  EXPECT_TRUE(is_integer(DType::U4));
  EXPECT_FALSE(is_integer(DType::Bool));
  EXPECT_TRUE(is_storage_only(DType::F8E5M2));
  EXPECT_FALSE(is_storage_only(DType::F64));
}

TEST(DTypes, ElementsAreReadAndWrittenAsDoubles) {
  for (const auto& [dtype, read] :
       {std::pair{DType::BF16, 2.5}, {DType::F64, 2.5}, {DType::U8, 2.0}, {DType::Bool, 1.0}}) {
    std::byte element[8];
    store_from_f64(dtype, element, 2.5);
    EXPECT_EQ(load_as_f64(dtype, element), read) << to_string(dtype);
  }
}

}  // namespace
}  // namespace tenon
