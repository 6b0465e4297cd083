// Runs the instructions of one expression. A reduction before scheduling gives the bits that its
// scheduled form will give: element i goes to lane i mod 16, the lanes combine in the fixed tree.
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "kernel/interpret_code.h"

namespace tenon::kernel {
namespace {

Value start_of(Op op, DType dtype) {
  if (op != Op::Max) return value_of(dtype, op == Op::Mul ? 1 : 0);
  if (dtype == DType::I64) return {.i = std::numeric_limits<int64_t>::min()};
  return value_of(dtype, -std::numeric_limits<double>::infinity());  // integers: the smallest
}

}  // namespace

void Machine::outside(int buffer, int64_t offset) const {
  const auto at = static_cast<size_t>(buffer);
  throw internal_error("[interpret] kernel {}: buffer {} has {} elements, element {} is accessed",
                       kernel->name, kernel->buffers[at].name, memory[at].elements, offset);
}

void Machine::race(int buffer, int64_t offset) const {
  throw internal_error(
      "[interpret] kernel {}: element {} of buffer {} is touched by two threads without a barrier",
      kernel->name, offset, kernel->buffers[static_cast<size_t>(buffer)].name);
}

Value Machine::load(int buffer, int64_t offset) const {
  check(buffer, offset);
  const Memory& m = memory[static_cast<size_t>(buffer)];
  if (m.watched >= 0 && !races.load(m.watched, offset, thread)) race(buffer, offset);
  return take_element(m.dtype, address(m, offset));
}

void Machine::store(int buffer, int64_t offset, Value value) {
  check(buffer, offset);
  const Memory& m = memory[static_cast<size_t>(buffer)];
  if (m.watched >= 0 && !races.store(m.watched, offset, thread)) race(buffer, offset);
  put_element(m.dtype, address(m, offset), value);
}

Value ExprCode::run(const Machine& machine, int64_t* slots) {
  run_all(code_, machine, slots);
  return values_[static_cast<size_t>(result_)];
}

void ExprCode::run_all(const std::vector<Instr>& code, const Machine& machine, int64_t* slots) {
  Value* values = values_.data();
  for (const Instr& instr : code) {
    if (!has(instr.op, kPointwise)) {
      run_access(instr, machine, slots);
      if (has(instr.op, kReduce)) {
        run_reduction(reductions_[static_cast<size_t>(instr.detail)], machine, slots);
      }
      continue;
    }
    const Value a = values[instr.args[0]];
    const Value b = values[instr.args[1]];
    const Value c = values[instr.args[2]];
    Value& target = values[instr.target];
    if (instr.op == Op::Select) {
      target = a.i != 0 ? b : c;
    } else if (instr.op == Op::Cast) {
      target = convert(instr.dtype, instr.result, a);
    } else if (instr.op == Op::BitCast) {
      target = reinterpret(instr.dtype, instr.result, a);
    } else {
      target = apply(instr.op, instr.dtype, a, b, c);
    }
  }
}

void ExprCode::run_access(const Instr& instr, const Machine& machine, const int64_t* slots) {
  Value& target = values_[static_cast<size_t>(instr.target)];
  const auto detail = static_cast<size_t>(instr.detail);
  if (instr.op == Op::Load) {
    const Access& access = accesses_[detail];
    target = access.guards.holds(slots) ? machine.load(access.buffer, access.offset(slots))
                                        : value_of(instr.result, 0);
  } else if (instr.op == Op::Index) {
    target = convert(DType::I64, instr.result, {.i = indices_[detail].first(slots)});
  } else if (instr.op == Op::InRange) {
    const int64_t index = indices_[detail].first(slots);
    target = {.i = index >= 0 && index < indices_[detail].second(slots) ? 1 : 0};
  } else if (has(instr.op, kLanes)) {
    Value lanes[kLaneCount];
    for (int64_t i = 0; i < kLaneCount; ++i) lanes[i] = machine.load(instr.detail, i);
    target = combine_lanes(reduction_of(instr.op).join, instr.result, lanes);
  }
}

void ExprCode::run_reduction(Reduction& r, const Machine& machine, int64_t* slots) {
  if (r.pure) {
    const auto same = [&](int slot, int64_t value) { return slots[slot] == value; };
    if (r.seen.size() == r.depends.size() + 1 &&
        std::equal(r.depends.begin(), r.depends.end(), r.seen.begin(), same)) {
      return;
    }
    r.seen.clear();
    for (const int slot : r.depends) r.seen.push_back(slots[slot]);
    r.seen.push_back(0);  // so that a reduction that depends on nothing has been seen, too
  }
  const Value value =
      is_contraction(r.op) ? contract(r, machine, slots) : reduce_lanes(r, machine, slots);
  values_[static_cast<size_t>(r.target)] = value;
}

Value ExprCode::reduce_lanes(Reduction& r, const Machine& machine, int64_t* slots) {
  const Op op = reduction_of(r.op).join;
  Value lanes[kLaneCount];
  std::fill_n(lanes, kLaneCount, start_of(op, r.dtype));
  const int64_t extent = r.extent(slots);
  for (int64_t i = 0; i < extent; ++i) {
    slots[r.slot] = i;
    run_all(r.body, machine, slots);
    Value& lane = lanes[i % kLaneCount];
    lane = apply(op, r.dtype, lane, values_[static_cast<size_t>(r.args[0])], {});
  }
  // The lanes past a partial last chunk take the identity: max drops a NaN there.
  for (int64_t i = extent; i > 0 && i % kLaneCount != 0; ++i) {
    Value& lane = lanes[i % kLaneCount];
    lane = apply(op, r.dtype, lane, start_of(op, r.dtype), {});
  }
  return combine_lanes(op, r.dtype, lanes);
}

Value ExprCode::contract(Reduction& r, const Machine& machine, int64_t* slots) {
  const int64_t extent = r.extent(slots);
  Value total = values_[static_cast<size_t>(r.args[2])];
  Value chunk = total;
  for (int64_t i = 0; i < extent; ++i) {
    if (i % kContractionChunk == 0 && i > 0) chunk = start_of(Op::Add, r.dtype);
    slots[r.slot] = i;
    run_all(r.body, machine, slots);
    const Value a = values_[static_cast<size_t>(r.args[0])];
    const Value b = values_[static_cast<size_t>(r.args[1])];
    chunk = apply(step_of(r.op), r.dtype, a, b, chunk);
    if (i + 1 != extent && (i + 1) % kContractionChunk != 0) continue;
    total = i < kContractionChunk ? chunk : apply(Op::Add, r.dtype, total, chunk, {});
  }
  return total;
}

}  // namespace tenon::kernel
