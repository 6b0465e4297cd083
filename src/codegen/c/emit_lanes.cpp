// What crosses lanes: spreading a scalar, taking one lane, the tree that combines all of them, and
// the transposition of 16 x 16 registers.
#include <fmt/ranges.h>

#include "base/error.h"
#include "codegen/c/emitter.h"

namespace tenon::codegen::c {

using kernel::kLaneCount;
using kernel::Op;

Value Emitter::splat(const Value& x) {
  if (x.vector) return x;
  Value result{x.dtype, true, {}};
  const std::string text = x.dtype == DType::Bool
                               ? fmt::format("splat_i32(-(i32){})", x.parts[0])
                               : fmt::format("splat_{}({})", scalar_type(x.dtype), x.parts[0]);
  result.parts.assign(static_cast<size_t>(part_count()), text);
  return result;
}

std::string Emitter::element(const Value& x, int64_t lane) const {
  return fmt::format("{}[{}]", x.parts[static_cast<size_t>(lane / lanes_)], lane % lanes_);
}

Value Emitter::list_of_lanes(DType dtype, const std::vector<std::string>& lanes) {
  std::vector<std::string> parts;
  for (int64_t part = 0; part < part_count(); ++part) {
    const std::span<const std::string> own(lanes.data() + part * lanes_,
                                           static_cast<size_t>(lanes_));
    parts.push_back(fmt::format("({}){{{}}}", vector_type(dtype), fmt::join(own, ", ")));
  }
  return variable(dtype, true, parts);
}

// Halves of 8, 4, 2, 1: the same tree on every machine. First whole vectors, then, in the one that
// is left, each lane with the one half a vector above.
Value Emitter::emit_lanes(const kernel::Expr& expr) {
  const char* combine = expr.op == Op::LanesAdd   ? "{0} + {1}"
                        : expr.op == Op::LanesMul ? "{0} * {1}"
                                                  : "max_{2}({0}, {1})";
  const std::string type = vector_type(expr.dtype);
  const auto combined = [&](const std::string& low, const std::string& high) {
    const std::string name = fresh("t");
    line("const {} {} = {};", type, name, fmt::format(fmt::runtime(combine), low, high, type));
    return name;
  };
  std::vector<std::string> parts = storage_[static_cast<size_t>(expr.buffer)].registers.at(0).parts;
  for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
    for (size_t i = 0; i < parts.size() / 2; ++i)
      parts[i] = combined(parts[i], parts[i + parts.size() / 2]);
  }
  for (int64_t half = lanes_ / 2; half >= 1; half /= 2) {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < lanes_; ++i) order.push_back((i + half) % lanes_);
    parts[0] = combined(parts[0], fmt::format("__builtin_shufflevector({0}, {0}, {1})", parts[0],
                                              fmt::join(order, ", ")));
  }
  return variable(expr.dtype, false, {parts[0] + "[0]"});
}

// A 16 x 16 register buffer read across its vectors: the first such read transposes all of it, in
// four rounds that exchange halves of 8, 4, 2 and 1; the following ones find their vector made.
Value Emitter::emit_register_column(int buffer, const Dim& offset) {
  const Storage& storage = storage_[static_cast<size_t>(buffer)];
  const Dim column = at_lane(offset, 0);
  TENON_CHECK(storage.vectors && static_cast<int64_t>(storage.registers.size()) == kLaneCount &&
                  column.is_const(),
              "kernel {}: a column of a register buffer that is not {} x {}", kernel_.name,
              kLaneCount, kLaneCount);
  Transposed& cached = transposed_[buffer];
  if (cached.block != open_.back()) {
    std::vector<Value> v = storage.registers;
    const DType dtype = v[0].dtype;
    for (int64_t half = kLaneCount / 2; half >= 1; half /= 2) {
      std::vector<int64_t> low, high;  // lanes of two vectors that make the new ones
      for (int64_t lane = 0; lane < lanes_; ++lane) {
        const bool upper = (lane & half) != 0;
        low.push_back(upper ? lane - half + lanes_ : lane);
        high.push_back(upper ? lane + lanes_ : lane + half);
      }
      const auto shuffled = [&](const std::string& a, const std::string& b, const auto& order) {
        return fmt::format("__builtin_shufflevector({}, {}, {})", a, b, fmt::join(order, ", "));
      };
      for (size_t row = 0; row < static_cast<size_t>(kLaneCount); ++row) {
        if (row & static_cast<size_t>(half)) continue;
        Value &a = v[row], &b = v[row + static_cast<size_t>(half)];
        std::vector<std::string> new_a, new_b;
        for (size_t part = 0; part < a.parts.size(); ++part) {
          const auto whole = static_cast<size_t>(half / lanes_);  // vectors to move as they are
          if (whole == 0) {
            new_a.push_back(shuffled(a.parts[part], b.parts[part], low));
            new_b.push_back(shuffled(a.parts[part], b.parts[part], high));
          } else {
            const bool upper = (part & whole) != 0;
            new_a.push_back(upper ? b.parts[part - whole] : a.parts[part]);
            new_b.push_back(upper ? b.parts[part] : a.parts[part + whole]);
          }
        }
        a = variable(dtype, true, new_a);
        b = variable(dtype, true, new_b);
      }
    }
    cached = {open_.back(), std::move(v)};
  }
  return cached.columns[static_cast<size_t>(column.const_value())];
}

}  // namespace tenon::codegen::c
