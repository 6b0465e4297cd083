// Loads and stores. What a guard excludes is not touched: whole vectors where all lanes are in,
// else element by element through a small array.
#include "base/error.h"
#include "codegen/c/emitter.h"

namespace tenon::codegen::c {

using kernel::kLaneCount;

namespace {

// The type that has the size of an element: what copies of it are made with.
std::string copied_type(DType dtype) { return fmt::format("u{}", size_of(dtype) * 8); }

// What lies in memory for a value of this dtype.
DType stored(DType dtype) { return dtype == DType::Bool ? DType::U8 : dtype; }

constexpr const char* kAllLanes = "0xffff";

}  // namespace

std::string Emitter::pointer_to(int buffer, const Dim& offset) {
  const auto at = static_cast<size_t>(buffer);
  const std::string pointer = fresh("p");
  line("{} *const {} = {} + {};", scalar_type(kernel_.buffers[at].dtype), pointer,
       storage_[at].base, dim(offset));
  return pointer;
}

// Lane by lane, from a common pointer where the index is linear in the lane.
std::vector<std::string> Emitter::lane_elements(int buffer, const Dim& offset) {
  const auto stride = offset.coefficient(*lane_);
  std::vector<std::string> elements;
  if (stride && !is_lane_varying(at_lane(offset, 0)) && !is_lane_varying(*stride)) {
    const std::string pointer = pointer_to(buffer, at_lane(offset, 0));
    for (int64_t lane = 0; lane < kLaneCount; ++lane)
      elements.push_back(fmt::format("{}[{}]", pointer, dim(*stride * lane)));
    return elements;
  }
  const auto at = static_cast<size_t>(buffer);
  const std::string base = fresh("p");
  line("{} *const {} = {} + {};", scalar_type(kernel_.buffers[at].dtype), base, storage_[at].base,
       sum(offset, Terms::Same));
  for (int64_t lane = 0; lane < kLaneCount; ++lane)
    elements.push_back(fmt::format("{}[{}]", base, varying_at(offset, lane)));
  return elements;
}

Value Emitter::from_memory(DType dtype, const Value& value) {
  if (dtype != DType::Bool) return value;
  std::vector<std::string> parts;
  for (const std::string& part : value.parts)
    parts.push_back(
        fmt::format(fmt::runtime(value.vector ? "MASK({} != (u8v){{}})" : "{} != 0"), part));
  return variable(DType::Bool, value.vector, parts);
}

Value Emitter::to_memory(const Value& value) {
  if (value.dtype != DType::Bool || !value.vector) return value;
  std::vector<std::string> parts;
  for (const std::string& part : value.parts)
    parts.push_back(fmt::format("CONVERT(-{}, u8v)", part));
  return variable(DType::U8, true, parts);
}

Value Emitter::emit_load(const kernel::Expr& expr) {
  const kernel::Buffer& buffer = kernel_.buffers[static_cast<size_t>(expr.buffer)];
  const Dim offset = known(expr.index);
  if (buffer.storage == kernel::Storage::Register) {
    if (lane_ && offset.coefficient(*lane_) == Dim(kLaneCount))
      return emit_register_column(expr.buffer, offset);
    // A copy: the register may have another value when this one is used.
    const Value& source = register_at(expr.buffer, offset);
    return variable(source.dtype, source.vector, source.parts);
  }
  if (!is_lane_varying(offset)) return load_scalar(expr, offset);
  const auto stride = offset.coefficient(*lane_);
  const bool contiguous = stride && stride->is_const(1) && !is_lane_varying(at_lane(offset, 0));
  return contiguous ? load_vector(expr, offset) : load_lanes(expr, offset);
}

Value Emitter::load_scalar(const kernel::Expr& expr, const Dim& offset) {
  const auto at = static_cast<size_t>(expr.buffer);
  const DType dtype = kernel_.buffers[at].dtype;
  const Guarded guard = emit_guards(expr.guards);
  std::string text = fmt::format("{}[{}]", storage_[at].base, dim(offset));
  if (guard.bits) {
    text = fmt::format("{} ? {} : 0", *guard.bits, text);
  } else if (guard.condition) {
    text = fmt::format("{} ? {} : 0", *guard.condition, text);
  }
  Value one = from_memory(dtype, variable(stored(dtype), false, {text}));
  if (!guard.bits) return one;
  std::vector<std::string> parts;  // 0 in the lanes that are out
  const Value lanes = splat(one);
  for (int64_t part = 0; part < part_count(); ++part) {
    parts.push_back(fmt::format("select_{0}(mask_of_bits({1} >> {2}), {3}, ({0}){{}})",
                                vector_type(dtype), *guard.bits, part * lanes_,
                                lanes.parts[static_cast<size_t>(part)]));
  }
  return variable(dtype, true, parts);
}

Value Emitter::load_vector(const kernel::Expr& expr, const Dim& offset) {
  const DType dtype = kernel_.buffers[static_cast<size_t>(expr.buffer)].dtype;
  const std::string element = scalar_type(dtype);
  const Guarded guard = emit_guards(expr.guards);
  const std::string pointer = pointer_to(expr.buffer, at_lane(offset, 0));
  const auto parts_at = [&](const std::string& from) {
    std::vector<std::string> parts;
    for (int64_t part = 0; part < part_count(); ++part)
      parts.push_back(fmt::format("*(const {}m *)({} + {})", element, from, part * lanes_));
    return parts;
  };
  if (!guard.bits && !guard.condition)
    return from_memory(dtype, variable(stored(dtype), true, parts_at(pointer)));
  Value result{stored(dtype), true, {}};
  for (int64_t part = 0; part < part_count(); ++part) {
    result.parts.push_back(fresh("t"));
    line("{}v {} = {{}};", element, result.parts.back());
  }
  const auto assign = [&](const std::string& from) {
    const std::vector<std::string> parts = parts_at(from);
    for (size_t i = 0; i < parts.size(); ++i) line("{} = {};", result.parts[i], parts[i]);
  };
  line("if ({}) {{", guard.bits ? *guard.bits + " == " + kAllLanes : *guard.condition);
  open_block();
  assign(pointer);
  close_block();
  if (guard.bits) {
    line("else if ({}) {{", *guard.bits);
    open_block();
    line("{} some[{}] = {{0}};", element, kLaneCount);
    const std::string copied = copied_type(dtype);
    line("copy_some_{0}(({0} *)some, (const {0} *){1}, {2});", copied, pointer, *guard.bits);
    assign("some");
    close_block();
  }
  return from_memory(dtype, result);
}

Value Emitter::load_lanes(const kernel::Expr& expr, const Dim& offset) {
  const DType dtype = kernel_.buffers[static_cast<size_t>(expr.buffer)].dtype;
  const Guarded guard = emit_guards(expr.guards);
  std::vector<std::string> elements = lane_elements(expr.buffer, offset);
  for (size_t lane = 0; lane < elements.size(); ++lane) {
    if (guard.bits) {
      elements[lane] = fmt::format("{} >> {} & 1 ? {} : 0", *guard.bits, lane, elements[lane]);
    } else if (guard.condition) {
      elements[lane] = fmt::format("{} ? {} : 0", *guard.condition, elements[lane]);
    }
  }
  return from_memory(dtype, list_of_lanes(stored(dtype), elements));
}

void Emitter::emit_prefetch(const kernel::Prefetch& prefetch) {
  const auto at = static_cast<size_t>(prefetch.buffer);
  line("__builtin_prefetch({} + {}, {}, 2);", storage_[at].base, dim(known(prefetch.offset)),
       kernel_.buffers[at].written ? 1 : 0);
}

void Emitter::emit_store(const kernel::Store& store) {
  const kernel::Buffer& buffer = kernel_.buffers[static_cast<size_t>(store.buffer)];
  Value value = emit_expr(store.value);
  if (buffer.storage == kernel::Storage::Register) {
    transposed_.erase(store.buffer);
    const Value& target = register_at(store.buffer, store.offset);
    if (target.vector) value = splat(value);
    for (size_t i = 0; i < target.parts.size(); ++i)
      line("{} = {};", target.parts[i], value.parts[i]);
    return;
  }
  if (lane_) value = splat(value);
  value = to_memory(value);
  const Guarded guard = emit_guards(store.guards);
  const Dim offset = known(store.offset);
  if (!lane_) {
    const std::string condition = guard.condition ? fmt::format("if ({}) ", *guard.condition) : "";
    line("{}{}[{}] = {};", condition, storage_[static_cast<size_t>(store.buffer)].base, dim(offset),
         value.parts[0]);
    return;
  }
  const auto stride = offset.coefficient(*lane_);
  const bool contiguous = stride && stride->is_const(1) && !is_lane_varying(at_lane(offset, 0));
  contiguous ? store_vector(store, value, guard) : store_lanes(store, value, guard);
}

void Emitter::store_vector(const kernel::Store& store, const Value& value, const Guarded& guard) {
  const DType dtype = kernel_.buffers[static_cast<size_t>(store.buffer)].dtype;
  const std::string element = scalar_type(dtype);
  const std::string pointer = pointer_to(store.buffer, at_lane(known(store.offset), 0));
  const auto assign = [&](const std::string& to) {
    for (size_t i = 0; i < value.parts.size(); ++i)
      line("*({}m *)({} + {}) = {};", element, to, static_cast<int64_t>(i) * lanes_,
           value.parts[i]);
  };
  if (!guard.bits && !guard.condition) return assign(pointer);
  line("if ({}) {{", guard.bits ? *guard.bits + " == " + kAllLanes : *guard.condition);
  open_block();
  assign(pointer);
  close_block();
  if (!guard.bits) return;
  line("else if ({}) {{", *guard.bits);
  open_block();
  line("{} some[{}];", element, kLaneCount);
  assign("some");
  line("copy_some_{0}(({0} *){1}, (const {0} *)some, {2});", copied_type(dtype), pointer,
       *guard.bits);
  close_block();
}

// In the order of the lanes: where two meet, the last one counts.
void Emitter::store_lanes(const kernel::Store& store, const Value& value, const Guarded& guard) {
  const std::vector<std::string> elements = lane_elements(store.buffer, known(store.offset));
  for (int64_t lane = 0; lane < kLaneCount; ++lane) {
    std::string condition;
    if (guard.bits) {
      condition = fmt::format("if ({} >> {} & 1) ", *guard.bits, lane);
    } else if (guard.condition) {
      condition = fmt::format("if ({}) ", *guard.condition);
    }
    line("{}{} = {};", condition, elements[static_cast<size_t>(lane)], element(value, lane));
  }
}

}  // namespace tenon::codegen::c
