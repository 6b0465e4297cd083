// The ops of the tensor IR as an enum and a table of what the compiler knows about each (ops.def).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon::graph {

enum class Op : uint16_t {
#define OP(Name, ...) Name,
#include "graph/ops.def"
};

enum OpTraits : unsigned {
  kLeaf = 1u << 0,
  kElementwise = 1u << 1,
  kCommutative = 1u << 2,
  kCompare = 1u << 3,  // the result is bool
  kMovement = 1u << 4,
  kReduction = 1u << 5,
  kFloatOnly = 1u << 6,
  kBoolOnly = 1u << 7,
  kNarrow = 1u << 8,  // takes storage-only dtypes (tenon/dtype.h), as every movement op does
};

struct OpInfo {
  std::string_view name;  // as in the enum
  std::string_view text;  // as printed
  int least = 0;          // operands
  int most = 0;
  int results = 1;  // -1: as many as its attributes say
  unsigned traits = 0;
};

inline constexpr OpInfo kOps[] = {
#define OP(Name, rule, evaluator, ...) {.name = #Name, __VA_ARGS__},
#include "graph/ops.def"
};
inline constexpr int kOpCount = sizeof(kOps) / sizeof(kOps[0]);

constexpr const OpInfo& info(Op op) { return kOps[static_cast<int>(op)]; }
constexpr bool has(Op op, unsigned traits) { return (info(op).traits & traits) == traits; }
std::optional<Op> parse_op(std::string_view text);

}  // namespace tenon::graph
