// Symbols in scope and accesses to buffers, for the verifier. An access is refused where it is
// provably outside: every range, innermost first, is put at the end that makes the offset largest
// or smallest, and what is left is compared with the buffer's size.
#include <algorithm>

#include "kernel/text.h"
#include "kernel/verify_code.h"

namespace tenon::kernel {
namespace {

enum class End { Lowest, Highest };

// The values between which a symbol moves; nullopt where they are not certain to occur. A ladder's
// symbols depend on each other, so its rows count only for registers: code with their offsets is
// compiled for every step, whether it runs or not.
std::optional<std::pair<Dim, Dim>> ends_of(const Binding& b, Storage storage) {
  if (b.kind == Binding::Kind::Range && prove_le(1, b.extent) == Proof::Yes) {
    return std::pair(Dim(0), b.extent - 1);
  }
  if (b.kind == Binding::Kind::LadderRows && storage == Storage::Register) {
    return std::pair(Dim(b.steps.back()), Dim(b.steps.front()));
  }
  return std::nullopt;
}

// The offset at an end of the ranges, as far as it is certain that the point is reached: a range
// that may be empty, or one the offset is not monotonic in, stays a symbol.
Dim at_end(const Scope& scope, Storage storage, Dim offset, End end) {
  const auto& bindings = scope.bindings();
  for (auto b = bindings.rbegin(); b != bindings.rend(); ++b) {
    if (!offset.uses(b->symbol)) continue;
    const auto slope = offset.coefficient(b->symbol);
    const auto ends = ends_of(*b, storage);
    if (!slope || !ends) continue;
    const bool rises = slope->bounds().lo >= 0;
    if (!rises && slope->bounds().hi > 0) continue;
    const bool at_last = rises == (end == End::Highest);
    offset = offset.substitute(b->symbol, at_last ? ends->second : ends->first);
  }
  return offset;
}

}  // namespace

const Binding* Scope::find(const Symbol& symbol) const {
  const auto found = std::find_if(bindings_.begin(), bindings_.end(),
                                  [&](const Binding& b) { return b.symbol == symbol; });
  return found == bindings_.end() ? nullptr : &*found;
}

void Scope::bind(Binding binding) {
  check(find(binding.symbol) == nullptr, "symbol {} is bound twice", binding.symbol.name());
  bindings_.push_back(std::move(binding));
}

void Scope::make_constant(const Symbol& symbol) {
  for (Binding& binding : bindings_) {
    if (binding.symbol == symbol) binding.constant = true;
  }
}

const Buffer& Scope::buffer(int index) const {
  check(index >= 0 && static_cast<size_t>(index) < kernel_.buffers.size(), "no buffer {}", index);
  return kernel_.buffers[static_cast<size_t>(index)];
}

void Scope::check_bound(const Dim& dim, std::string_view where) const {
  for (const Symbol& symbol : dim.symbols()) {
    check(find(symbol) != nullptr, "symbol {} is not bound in {} ({})", symbol.name(),
          dim.to_string(), where);
  }
}

bool Scope::may_not_run(const Buffer& accessed) const {
  return std::ranges::any_of(bindings_, [&](const Binding& b) {
    // Of whole vectors where there are always too few elements for one.
    if (b.kind == Binding::Kind::Range && prove_le(b.extent, 0) == Proof::Yes) return true;
    // On GPUs a loop over what is left for a thread is a condition on the ranges around it.
    const bool is_condition = kernel_.level == Level::Gpu && b.kind == Binding::Kind::Range &&
                              !b.extent.is_const() && prove_le(1, b.extent) != Proof::Yes;
    if (is_condition) return true;
    const auto symbols = b.extent.symbols();
    return std::ranges::any_of(symbols, [&](const Symbol& symbol) {
      const Binding* binding = find(symbol);
      if (!binding) return false;
      const bool may_be_none = binding->kind == Binding::Kind::Dim && Dim(symbol).bounds().lo <= 0;
      return binding->is_data || (may_be_none && !accessed.elements.uses(symbol));
    });
  });
}

bool Scope::relies_on_constraint(const Buffer& accessed, const Dim& offset) const {
  return std::ranges::any_of(bindings_, [&](const Binding& b) {
    if (b.kind != Binding::Kind::Range || !offset.uses(b.symbol)) return false;
    if (prove_le(1, b.extent) == Proof::Yes) return false;
    bool symbolic = false, of_size = false;
    for (const Symbol& symbol : b.extent.symbols()) {
      const Binding* binding = find(symbol);
      symbolic |= binding && binding->kind == Binding::Kind::Dim;
      of_size |= accessed.elements.uses(symbol);
    }
    return symbolic && !of_size;
  });
}

bool Scope::is_constant(const Dim& dim) const {
  const auto symbols = dim.symbols();
  return std::all_of(symbols.begin(), symbols.end(), [&](const Symbol& symbol) {
    const Binding* binding = find(symbol);
    return binding && binding->constant;
  });
}

void verify_access(const Scope& scope, int index, const Dim& offset,
                   const std::vector<Guard>& guards) {
  const Buffer& buffer = scope.buffer(index);
  scope.check_bound(offset, buffer.name);
  for (const Guard& guard : guards) {
    scope.check_bound(guard.index, "a guard");
    scope.check_bound(guard.bound, "a guard");
  }
  scope.check(buffer.storage != Storage::Register || scope.is_constant(offset),
              "register buffer {} is indexed by {}, which is not constant", buffer.name,
              offset.to_string());
  // What guards exclude is not reached, and loops over nothing never run.
  if (!guards.empty() || buffer.elements.is_const(0) || scope.may_not_run(buffer)) return;
  if (scope.relies_on_constraint(buffer, offset)) return;
  scope.check(prove_lt(at_end(scope, buffer.storage, offset, End::Lowest), 0) != Proof::Yes,
              "buffer {} is accessed at {}, which can be negative", buffer.name,
              offset.to_string());
  scope.check(
      prove_le(buffer.elements, at_end(scope, buffer.storage, offset, End::Highest)) != Proof::Yes,
      "buffer {} of {} elements is accessed at {}, which can be outside", buffer.name,
      buffer.elements.to_string(), offset.to_string());
}

}  // namespace tenon::kernel
