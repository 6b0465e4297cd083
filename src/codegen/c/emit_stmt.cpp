// Statements: loops, ladders, specialization, gathers and tile instructions.
#include "base/error.h"
#include "codegen/c/emitter.h"
#include "codegen/c/prelude.h"
#include "codegen/object_code.h"

namespace tenon::codegen::c {

using kernel::kLaneCount;

Emitter::Emitter(const kernel::Kernel& kernel, Isa isa)
    : KernelWriter(kernel), lanes_(lanes_of_vectors(kernel, isa)) {}

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

void Emitter::emit_counted(const kernel::Loop& loop) {
  const bool is_grid = loop.kind == kernel::LoopKind::Thread;
  const std::string& name = names_.of(loop.symbol.name());
  line("for (i64 {0} = {1}; {0} < {2}; ++{0}) {{", name, is_grid ? "begin" : "0",
       is_grid ? "end" : dim(loop.extent));
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

void Emitter::emit_multiply_add(const kernel::Mma& mma, size_t at, const Value& a, const Value& b) {
  const Value& sum = storage_[static_cast<size_t>(mma.acc)].registers[at];
  const char* form = mma.kind == kernel::MmaKind::Dot2   ? "{0} = dot2_{1}({2}, {3}, {0});"
                     : mma.kind == kernel::MmaKind::Dot4 ? "{0} = dot4_{1}({2}, {3}, {0});"
                     : is_float(sum.dtype)               ? "{0} = fma_{1}({2}, {3}, {0});"
                                                         : "{0} = {2} * {3} + {0};";
  for (size_t part = 0; part < sum.parts.size(); ++part) {
    line("{}", fmt::format(fmt::runtime(form), sum.parts[part], vector_type(sum.dtype),
                           a.parts[part], b.parts[part]));
  }
}

}  // namespace tenon::codegen::c
