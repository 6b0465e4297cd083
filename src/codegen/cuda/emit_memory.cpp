// Loads and stores. What a guard excludes is not touched. Lanes that lie side by side are moved at
// once where all of them are in, else element by element.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "codegen/cuda/emitter.h"

namespace tenon::codegen::cuda {

namespace {

constexpr int64_t kWidestAccess = 16;  // bytes

}  // namespace

bool is_multiple(const Dim& d, int64_t of) {
  for (const Dim::Term& term : d.terms()) {
    if (term.coefficient % of != 0) return false;
  }
  return true;
}

// Also where the offset is no sum with the lane in it, but is one for each lane: `(4 + l) % 8`.
bool Emitter::is_contiguous(const Dim& offset) const {
  const Dim first = at_lane(offset, 0);
  if (is_lane_varying(first)) return false;
  for (int64_t lane = 1; lane < lane_count_; ++lane) {
    if (at_lane(offset, lane) != first + lane) return false;
  }
  return true;
}

std::string Emitter::lanes_type(DType dtype) const {
  return fmt::format("{}, {}", scalar_type(dtype), lane_count_);
}

std::string Emitter::register_text(int index, const Dim& raw, int64_t lane) const {
  const Dim offset = lane_ ? known(at_lane(raw, lane)) : known(raw);
  TENON_CHECK(offset.is_const(), "kernel {}: register buffer {} is indexed by {}", kernel_.name,
              buffer(index).name, offset.to_string());
  const int64_t at = offset.const_value();
  TENON_CHECK(at >= 0 && at < buffer(index).elements.const_value(),
              "kernel {}: register {} out of range", kernel_.name, at);
  return fmt::format("{}[{}]", storage(index).base, at);
}

std::string Emitter::element(int index, const Dim& offset, int64_t lane) {
  const Storage& from = storage(index);
  const std::string at = dim(offset, lane);
  return from.is_constant ? fmt::format("__ldg({} + {})", from.base, at)
                          : fmt::format("{}[{}]", from.base, at);
}

// What must hold of the kernel's dims so that every value of the Dim is a multiple; none where that
// depends on more.
std::optional<std::string> Emitter::condition_of_multiple(const Dim& d, int64_t of) {
  std::string condition;
  for (const Dim::Term& term : d.terms()) {
    if (term.coefficient % of == 0) continue;
    std::string product = fmt::format("(i64){}", integer_text(term.coefficient));
    for (const auto& atom : term.atoms) {
      const bool is_dim =
          atom->kind == AtomKind::Symbol &&
          std::find(kernel_.dims.begin(), kernel_.dims.end(), *atom->symbol) != kernel_.dims.end();
      if (is_dim) product += " * " + dim(*atom->symbol);
    }
    if (term.atoms.empty() || product.find('*') == std::string::npos) return std::nullopt;
    condition += fmt::format("{}{} % {} == 0", condition.empty() ? "" : " && ", product, of);
  }
  return condition;
}

// Whether an access of all lanes is aligned: known before a loop over threads, which is written
// once for each case, or else looked at every time.
std::string Emitter::aligned_text(int index, const Dim& first, const std::string& pointer) {
  const int64_t size = size_of(buffer(index).dtype);
  const int64_t access = std::min(kWidestAccess, lane_count_ * size);
  const auto condition = condition_of_multiple(first, access / size);
  if (!condition) return fmt::format("is_aligned<{}>({})", access, pointer);
  for (const std::string& part : {storage(index).aligned, *condition}) {
    if (part.empty() || part == "true") continue;
    if (!assumes_aligned_) return "false";
    assumed_.insert(part);
  }
  return "true";
}

// A copy: the register may have another value when this one is used.
Value Emitter::load_register(const kernel::Expr& expr) {
  std::vector<std::string> lanes;
  for (int64_t lane = 0; lane < lanes_of(is_varying(expr.index)); ++lane)
    lanes.push_back(register_text(expr.buffer, expr.index, lane));
  return variable(expr.dtype, lanes);
}

Value Emitter::emit_load(const kernel::Expr& expr) {
  if (buffer(expr.buffer).storage == kernel::Storage::Register) return load_register(expr);
  const Dim offset = known(expr.index);
  const bool differs = is_lane_varying(offset);
  if (differs && is_contiguous(offset)) return load_wide(expr, offset);
  std::vector<std::string> lanes;
  for (int64_t lane = 0; lane < lanes_of(differs || varies(expr.guards)); ++lane) {
    std::string text = element(expr.buffer, offset, lane);
    if (expr.dtype == DType::Bool) text += " != 0";
    const std::string holds = guard_text(expr.guards, lane);
    lanes.push_back(holds.empty() ? text : fmt::format("{} ? {} : 0", holds, text));
  }
  return variable(expr.dtype, lanes);
}

Value Emitter::load_wide(const kernel::Expr& expr, const Dim& offset) {
  const Storage& from = storage(expr.buffer);
  const std::string type = scalar_type(expr.dtype), lanes = lanes_type(expr.dtype);
  const std::string pointer = fresh("p"), value = fresh("v");
  line("const {} *const {} = {} + {};", type, pointer, from.base, dim(offset, 0));
  const std::string load =
      fmt::format("load_{}lanes<{}>({}, {})", from.is_constant ? "constant_" : "", lanes, pointer,
                  aligned_text(expr.buffer, at_lane(offset, 0), pointer));
  const bool by_lane = varies(expr.guards);
  const auto all = all_lanes_text(expr.guards);
  if (expr.guards.empty()) {
    line("const Lanes<{}> {} = {};", lanes, value, load);
  } else {
    line("Lanes<{}> {} = {{}};", lanes, value);
    if (all) line("if ({}) {} = {};", *all, value, load);
  }
  if (by_lane) {
    open(all ? "else" : "");
    for (int64_t lane = 0; lane < lane_count_; ++lane) {
      line("if ({}) {}.at[{}] = {}[{}];", guard_text(expr.guards, lane), value, lane, pointer,
           lane);
    }
    close();
  }
  Value result{expr.dtype, {}};
  for (int64_t lane = 0; lane < lane_count_; ++lane)
    result.lanes.push_back(fmt::format("{}.at[{}]", value, lane));
  if (expr.dtype != DType::Bool) return result;
  for (std::string& lane : result.lanes) lane += " != 0";
  return variable(DType::Bool, result.lanes);
}

void Emitter::emit_store(const kernel::Store& store) {
  if (emit_copy(store)) return;
  const Value value = emit_expr(store.value);
  if (buffer(store.buffer).storage == kernel::Storage::Register)
    return store_register(store, value);
  const Dim offset = known(store.offset);
  if (lane_ && is_contiguous(offset)) return store_wide(store, value);
  const bool per_lane =
      lane_ && (is_lane_varying(offset) || value.varies() || varies(store.guards));
  for (int64_t lane = 0; lane < lanes_of(per_lane); ++lane) {
    const std::string holds = guard_text(store.guards, lane);
    line("{}{}[{}] = {};", holds.empty() ? "" : fmt::format("if ({}) ", holds),
         storage(store.buffer).base, dim(offset, lane), value.at(lane));
  }
}

void Emitter::store_register(const kernel::Store& store, const Value& value) {
  for (int64_t lane = 0; lane < lanes_of(lane_.has_value()); ++lane) {
    const std::string holds = guard_text(store.guards, lane);
    line("{}{} = {};", holds.empty() ? "" : fmt::format("if ({}) ", holds),
         register_text(store.buffer, store.offset, lane), value.at(lane));
  }
}

void Emitter::store_wide(const kernel::Store& store, const Value& value) {
  const Dim offset = known(store.offset);
  const DType dtype = buffer(store.buffer).dtype;
  const std::string lanes = lanes_type(dtype), pointer = fresh("p");
  line("{} *const {} = {} + {};", scalar_type(dtype), pointer, storage(store.buffer).base,
       dim(offset, 0));
  std::vector<std::string> elements;
  for (int64_t lane = 0; lane < lane_count_; ++lane) elements.push_back(value.at(lane));
  const auto all = all_lanes_text(store.guards);
  if (all) {
    line("{}store_lanes<{}>({}, {}, Lanes<{}>{{{{{}}}}});",
         all->empty() ? "" : fmt::format("if ({}) ", *all), lanes, pointer,
         aligned_text(store.buffer, at_lane(offset, 0), pointer), lanes, fmt::join(elements, ", "));
  }
  if (!varies(store.guards)) return;
  open(all ? "else" : "");
  for (int64_t lane = 0; lane < lane_count_; ++lane) {
    line("if ({}) {}[{}] = {};", guard_text(store.guards, lane), pointer, lane, value.at(lane));
  }
  close();
}

}  // namespace tenon::codegen::cuda
