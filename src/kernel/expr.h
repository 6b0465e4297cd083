// Expr: a scalar value of the loop IR at one point of the ranges that enclose it. Immutable,
// shared, a DAG.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "tenon/dim.h"
#include "tenon/dtype.h"
#include "types/narrow.h"

namespace tenon::kernel {

enum class Op : uint8_t {
#define KOP(Name, ...) Name,
#include "kernel/ops.def"
#undef KOP
};

enum OpTraits : unsigned {
  kPointwise = 1u << 0,
  kBoolResult = 1u << 1,
  kReduce = 1u << 2,
  kLanes = 1u << 3,
  kExpanded = 1u << 4,  // no generator has it: expand_math writes it with the others
  kOnCpu = 1u << 5,     // GPUs do not have it
};

struct OpInfo {
  std::string_view name;
  std::string_view text;
  int operands;
  unsigned traits;
};

inline constexpr OpInfo kOps[] = {
#define KOP(Name, text, operands, traits) {#Name, text, operands, traits},
#include "kernel/ops.def"
#undef KOP
};
constexpr const OpInfo& info(Op op) { return kOps[static_cast<int>(op)]; }
constexpr bool has(Op op, unsigned traits) { return (info(op).traits & traits) == traits; }

// Reductions in lanes: what joins two elements, and the op that joins the lanes of a register.
struct Reduction {
  Op reduce, join, lanes;
};
inline constexpr Reduction kReductions[] = {
    {Op::ReduceAdd, Op::Add, Op::LanesAdd},
    {Op::ReduceMul, Op::Mul, Op::LanesMul},
    {Op::ReduceMax, Op::Max, Op::LanesMax},
};
constexpr const Reduction& reduction_of(Op op) {  // by either of its ops
  const Reduction* row = kReductions;
  while (row->reduce != op && row->lanes != op) ++row;
  return *row;
}

// Contractions: sums of products in ascending order, and the op that takes in one more of them; or
// a group of them, where narrow numbers come as groups in a u32, of what they are added to.
struct Contracting {
  Op reduce, step;
  DType groups = DType::F32;  // what is added up; of Fma anything
};
inline constexpr Contracting kContractions[] = {
    {Op::ReduceFma, Op::Fma},
    {Op::ReduceDot2, Op::Dot2, DType::F32},
    {Op::ReduceDot4, Op::Dot4, DType::I32},
};
constexpr const Contracting* contracting(Op op) {  // by either of its ops; null: no such op
  for (const Contracting& row : kContractions) {
    if (row.reduce == op || row.step == op) return &row;
  }
  return nullptr;
}
constexpr bool is_contraction(Op op) { return has(op, kReduce) && contracting(op) != nullptr; }
constexpr bool takes_groups(Op op) {
  return contracting(op) != nullptr && contracting(op)->step != Op::Fma;
}
constexpr Op step_of(Op contraction) { return contracting(contraction)->step; }

// Lanes of a row reduction and of every vector, on every CPU: a constant of the numerics class.
inline constexpr int64_t kLaneCount = 16;

// Steps of a contraction that are accumulated one after the other; the sums of such chunks are
// added left to right. A constant of the numerics class too: it bounds how rounding errors grow.
inline constexpr int64_t kContractionChunk = 128;

// 0 <= index < bound must hold for an access to happen.
struct Guard {
  Dim index, bound;
  bool operator==(const Guard&) const = default;
};

struct Expr;
using ExprRef = std::shared_ptr<const Expr>;

struct Expr {
  Op op;
  DType dtype;
  std::vector<ExprRef> args;
  double value = 0;  // Const
  Dim index;         // Index, InRange: the expression; Load: the element offset in the buffer
  Dim bound;         // InRange: the bound; reductions: the extent of `range`
  int buffer = -1;   // Load, lanes
  std::vector<Guard> guards;  // Load: where one fails the value is 0 and memory is not touched
  std::vector<Symbol> range;  // reductions: the one range they run over
};

// Whether values of a dtype can be computed with: bool, integers of 8 to 64 bits, f32, f64.
constexpr bool is_computed(DType dtype) {
  return !is_storage_only(dtype) && dtype != DType::F16 && dtype != DType::BF16;
}
// What values of a dtype are inside of a kernel: 16-bit floats are f32, rounded where they are
// stored or cast.
constexpr DType computed_in(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16 ? DType::F32 : dtype;
}

ExprRef constant(DType dtype, double value);
inline ExprRef f32(double value) { return constant(DType::F32, value); }
ExprRef index_value(DType dtype, Dim index);
ExprRef in_range(Dim index, Dim bound);
ExprRef load(int buffer, DType dtype, Dim offset, std::vector<Guard> guards = {});
ExprRef pointwise(
    Op op, std::vector<ExprRef> args);  // dtype from the operands (Select: from the last two)
// A value cast back to the 16-bit float that it was loaded as is that value.
ExprRef cast(ExprRef x, DType dtype);
ExprRef bit_cast(ExprRef x, DType dtype);
ExprRef reduce(Op op, const Symbol& range, Dim extent, std::vector<ExprRef> args);
ExprRef lanes(Op op, DType dtype, int buffer);
ExprRef identity(Op join, DType dtype);  // that adds nothing: 0, 1, the lowest

inline ExprRef operator+(ExprRef a, ExprRef b) {
  return pointwise(Op::Add, {std::move(a), std::move(b)});
}
inline ExprRef operator-(ExprRef a, ExprRef b) {
  return pointwise(Op::Sub, {std::move(a), std::move(b)});
}
inline ExprRef operator*(ExprRef a, ExprRef b) {
  return pointwise(Op::Mul, {std::move(a), std::move(b)});
}
inline ExprRef operator/(ExprRef a, ExprRef b) {
  return pointwise(Op::Div, {std::move(a), std::move(b)});
}
inline ExprRef fma(ExprRef a, ExprRef b, ExprRef c) {
  return pointwise(Op::Fma, {std::move(a), std::move(b), std::move(c)});
}
inline ExprRef select(ExprRef condition, ExprRef then, ExprRef otherwise) {
  return pointwise(Op::Select, {std::move(condition), std::move(then), std::move(otherwise)});
}

// Rebuilds bottom-up, each shared node once: `change` sees a copy of a node whose operands are
// rebuilt already and edits it in place, or returns a replacement; null keeps the edited copy.
// Unchanged nodes stay shared.
ExprRef transform(const ExprRef& root, const std::function<ExprRef(Expr& copy)>& change);
// Substitutes symbols in every index, bound and guard.
ExprRef substitute(const ExprRef& root, const SymbolMap& map);
// Calls `visit` on each node once, operands first.
void for_each(const ExprRef& root, const std::function<void(const Expr&)>& visit);
bool contains(const ExprRef& root, unsigned traits);  // a node with one of these traits
bool uses(const ExprRef& root, const Symbol& symbol);

// Writes what no generator has with the ops that they have: functions within 2 units in the last
// place of f32, and casts from and to the floats of 16 bits and fewer.
ExprRef expand_math(const ExprRef& root);
// For GPUs, which cast between bf16 and f32 themselves.
ExprRef expand_math_for_gpu(const ExprRef& root);
// Whether generators have the cast.
bool is_plain_cast(DType from, DType to);
bool is_plain_cast_on_gpu(DType from, DType to);
// The code of a number in a float of 8 or 4 bits.
ExprRef encode_narrow(const ExprRef& x, DType to, NarrowRounding rounding);

}  // namespace tenon::kernel
