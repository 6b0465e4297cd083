// Statements: loops, ladders, specialization, gathers and tile instructions.
#include "base/error.h"
#include "codegen/c/emitter.h"
#include "codegen/c/prelude.h"
#include "codegen/object_code.h"

namespace tenon::codegen::c {

using kernel::kLaneCount;
using kernel::LoopKind;

Emitter::Emitter(const kernel::Kernel& kernel, Isa isa)
    : kernel_(kernel), lanes_(lanes_of_vectors(kernel, isa)) {}

std::string Emitter::emit() {
  out_ = prelude(lanes_);
  line("");
  line("void {}(void *const *buffers, const i64 *dims, void *scratch, i64 begin, i64 end,",
       kEntryName);
  line("    i64 *fault) {{");
  open_block();
  for (size_t i = 0; i < kernel_.dims.size(); ++i) {
    const std::string& name = names_.of(kernel_.dims[i].name());
    line("const i64 {} = dims[{}];", name, i);
    bind(kernel_.dims[i], name);
  }
  declare_buffers();
  emit_block(kernel_.body);
  close_block();
  return std::move(out_);
}

// Lets are bound until their block ends.
void Emitter::emit_block(const kernel::Block& block) {
  for (const kernel::Stmt& stmt : block) emit_stmt(stmt);
  for (const kernel::Stmt& stmt : block) {
    if (const auto* let = stmt.as<kernel::Let>(); let && !lane_) unbind(let->symbol);
  }
}

void Emitter::emit_stmt(const kernel::Stmt& stmt) {
  memo_.clear();
  if (const auto* loop = stmt.as<kernel::Loop>()) return emit_loop(*loop);
  if (const auto* store = stmt.as<kernel::Store>()) return emit_store(*store);
  if (const auto* let = stmt.as<kernel::Let>()) return emit_let(*let);
  if (const auto* specialize = stmt.as<kernel::Specialize>()) return emit_specialize(*specialize);
  emit_mma(std::get<kernel::Mma>(stmt.node));
}

void Emitter::emit_loop(const kernel::Loop& loop) {
  switch (loop.kind) {
    case LoopKind::Thread:
      return emit_counted(loop, "begin", "end");
    case LoopKind::Serial:
      return emit_counted(loop, "0", dim(loop.extent));
    case LoopKind::Ladder:
      return emit_ladder(loop);
    case LoopKind::Unroll:
      return emit_unrolled(loop);
    case LoopKind::Vector:
      return emit_vector(loop);
    case LoopKind::Parallel:
      throw internal_error("kernel {}: parallel loop after scheduling", kernel_.name);
  }
}

void Emitter::emit_counted(const kernel::Loop& loop, const std::string& begin,
                           const std::string& end) {
  const std::string& name = names_.of(loop.symbol.name());
  line("for (i64 {0} = {1}; {0} < {2}; ++{0}) {{", name, begin, end);
  open_block();
  bind(loop.symbol, name);
  emit_block(*loop.body);
  unbind(loop.symbol);
  close_block();
}

void Emitter::emit_ladder(const kernel::Loop& loop) {
  const std::string &start = names_.of(loop.symbol.name()), &rows = names_.of(loop.rows[0].name());
  const std::string end = fresh("end");
  line("const i64 {} = {};", end, dim(loop.extent));
  line("for (i64 {0} = 0, {1}; {0} < {2}; {0} += {1}) {{", start, rows, end);
  open_block();
  std::string choice;
  for (size_t i = 0; i + 1 < loop.steps.size(); ++i)
    choice += fmt::format("{0} - {1} >= {2} ? {2} : ", end, start, loop.steps[i]);
  line("{} = {}{};", rows, choice, loop.steps.back());
  bind(loop.symbol, start);
  bind(loop.rows[0], rows);
  emit_block(*loop.body);
  unbind(loop.symbol);
  unbind(loop.rows[0]);
  close_block();
}

void Emitter::emit_unrolled(const kernel::Loop& loop) {
  const Dim extent = known(loop.extent);
  TENON_CHECK(extent.is_const(), "kernel {}: unrolled loop of extent {}", kernel_.name,
              extent.to_string());
  for (int64_t i = 0; i < extent.const_value(); ++i) {
    constants_[loop.symbol.name()] = i;
    emit_block(*loop.body);
  }
  constants_.erase(loop.symbol.name());
}

void Emitter::emit_vector(const kernel::Loop& loop) {
  TENON_CHECK(!lane_ && loop.extent.is_const(kLaneCount), "kernel {}: bad vector loop",
              kernel_.name);
  lane_ = loop.symbol;
  for (const kernel::Stmt& stmt : *loop.body) emit_stmt(stmt);
  lane_.reset();
  lane_symbols_.clear();
}

void Emitter::emit_specialize(const kernel::Specialize& specialize) {
  line("switch ({}) {{", dim(specialize.symbol));
  for (size_t i = 0; i < specialize.values.size(); ++i) {
    const bool is_last = i + 1 == specialize.values.size();
    line("{} {{",
         is_last ? "default:" : fmt::format("case {}:", integer_text(specialize.values[i])));
    constants_[specialize.symbol.name()] = specialize.values[i];
    open_block();
    emit_block(*specialize.body);
    line("break;");
    close_block();
  }
  constants_.erase(specialize.symbol.name());
  line("}}");
}

// Outside a vector loop a variable; inside, an array of one index per lane. Of several faults the
// one of the first lane is what remains. Where a guard fails the index is 0, and never a fault.
void Emitter::emit_let(const kernel::Let& let) {
  Value value = emit_cast(emit_expr(let.value), DType::I64);
  const Guarded guard = emit_guards(let.guards);
  if (guard.bits) value = splat(value);
  const std::string extent = let.is_checked() ? dim(let.extent) : "";
  const int argument = let.is_checked() ? kernel_.argument_of(let.buffer) + 1 : 0;
  const auto index = [&](const std::string& text, const std::string& holds) {
    const std::string checked =
        let.is_checked() ? fmt::format("checked_index({}, {}, {}, fault)", text, extent, argument)
                         : text;
    return holds.empty() ? checked : fmt::format("{} ? {} : 0", holds, checked);
  };
  const std::string name = names_.fresh(let.symbol.name());
  if (!value.vector) {
    line("const i64 {} = {};", name, index(value.parts[0], guard.condition.value_or("")));
    bind(let.symbol, name);
    return;
  }
  TENON_CHECK(lane_, "kernel {}: lane-varying let", kernel_.name);
  line("i64 {}[{}];", name, kLaneCount);
  for (int64_t lane = kLaneCount; lane-- > 0;) {
    const std::string holds =
        guard.bits ? fmt::format("{} >> {} & 1", *guard.bits, lane) : guard.condition.value_or("");
    line("{}[{}] = {};", name, lane, index(element(value, lane), holds));
  }
  lane_symbols_[let.symbol.name()] = name;
}

// For each row: broadcast a, multiply by the vectors of b, add to the row's accumulators.
void Emitter::emit_mma(const kernel::Mma& mma) {
  const Dim rows = known(mma.rows);
  TENON_CHECK(rows.is_const(), "kernel {}: mma of {} rows", kernel_.name, rows.to_string());
  const int64_t vectors = mma.cols / kLaneCount;
  const Symbol lane = Symbol::range("mma.lane", kLaneCount);
  std::vector<Value> b;
  for (int64_t v = 0; v < vectors; ++v) {
    lane_ = lane;
    memo_.clear();
    b.push_back(splat(emit_expr(substitute(mma.b, [&](const Symbol& symbol) -> std::optional<Dim> {
      if (symbol == mma.col) return Dim(lane) + v * kLaneCount;
      return std::nullopt;
    }))));
    lane_.reset();
  }
  const Storage& acc = storage_[static_cast<size_t>(mma.acc)];
  const bool real = is_float(kernel_.buffers[static_cast<size_t>(mma.acc)].dtype);
  const char* form = real ? "{0} = fma_{1}({2}, {3}, {0});" : "{0} = {2} * {3} + {0};";
  for (int64_t row = 0; row < rows.const_value(); ++row) {
    constants_[mma.row.name()] = row;
    memo_.clear();
    const Value a = splat(emit_expr(mma.a));
    for (int64_t v = 0; v < vectors; ++v) {
      const Value& tile = acc.registers[static_cast<size_t>(row * vectors + v)];
      for (size_t part = 0; part < tile.parts.size(); ++part) {
        line("{}", fmt::format(fmt::runtime(form), tile.parts[part], vector_type(tile.dtype),
                               a.parts[part], b[static_cast<size_t>(v)].parts[part]));
      }
    }
  }
  constants_.erase(mma.row.name());
}

}  // namespace tenon::codegen::c
