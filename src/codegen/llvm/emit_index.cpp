// Index arithmetic. A Dim is a sum of terms; each partial sum is computed in the outermost scope
// where its symbols are known, so inner loops see invariant bases, one induction variable and
// constant displacements.
#include <algorithm>
#include <bit>
#include <set>

#include "base/error.h"
#include "codegen/llvm/emitter.h"

namespace tenon::codegen {

namespace {

Dim atom_dim(const Dim::Atom& atom) {
  switch (atom.kind) {
    case AtomKind::Symbol:
      return *atom.symbol;
    case AtomKind::FloorDiv:
      return floordiv(atom.args[0], atom.args[1]);
    case AtomKind::Min:
    case AtomKind::Max: {
      Dim result = atom.args[0];
      for (const Dim& arg : atom.args)
        result = atom.kind == AtomKind::Min ? min(result, arg) : max(result, arg);
      return result;
    }
  }
  return 0;
}

}  // namespace

Dim term_dim(const Dim::Term& term) {
  Dim result = term.coefficient;
  for (const auto& atom : term.atoms) result = result * atom_dim(*atom);
  return result;
}

size_t Emitter::depth_of(const Dim& dim) const {
  size_t depth = 0;
  for (const Symbol& symbol : dim.symbols()) {
    const auto it = bindings_.find(symbol.name());
    TENON_CHECK(it != bindings_.end(), "kernel {}: symbol {} has no value", kernel_.name,
                symbol.name());
    depth = std::max(depth, it->second.depth);
  }
  return depth;
}

Emitter::Value* Emitter::emit_dim(const Dim& raw) {
  const Dim dim = known(raw);
  if (dim.is_const()) return builder_.getInt64(static_cast<uint64_t>(dim.const_value()));
  // Terms by scope, outermost first; each partial sum lives in the scope of its innermost term.
  std::map<size_t, Dim> by_depth;
  for (const Dim::Term& term : dim.terms()) {
    const Dim part = term_dim(term);
    const size_t depth = term.atoms.empty() ? 0 : depth_of(part);
    by_depth[depth] = by_depth[depth] + part;
  }
  Dim sum = 0;
  Value* result = nullptr;
  for (const auto& [depth, part] : by_depth) {
    sum = sum + part;
    Scope& scope = scopes_[depth];
    if (const auto it = scope.dims.find(sum); it != scope.dims.end()) {
      result = it->second;
      continue;
    }
    Value* addend = emit_hoisted(part, depth);
    if (result) {
      llvm::IRBuilder<>::InsertPointGuard guard(builder_);
      builder_.SetInsertPoint(scopes_[depth].entry->getTerminator());
      addend = builder_.CreateNSWAdd(result, addend);
    }
    scopes_[depth].dims[sum] = result = addend;
  }
  return result;
}

// A sum whose terms all belong to one scope.
Emitter::Value* Emitter::emit_hoisted(const Dim& dim, size_t depth) {
  if (dim.is_const()) return builder_.getInt64(static_cast<uint64_t>(dim.const_value()));
  if (const auto it = scopes_[depth].dims.find(dim); it != scopes_[depth].dims.end())
    return it->second;
  llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  Value* result = nullptr;
  for (const Dim::Term& term : dim.terms()) {
    builder_.SetInsertPoint(scopes_[depth].entry->getTerminator());
    Value* value = emit_term(term);
    builder_.SetInsertPoint(scopes_[depth].entry->getTerminator());
    result = result ? builder_.CreateNSWAdd(result, value) : value;
  }
  scopes_[depth].dims[dim] = result;
  return result;
}

Emitter::Value* Emitter::emit_term(const Dim::Term& term) {
  const bool alone = term.atoms.size() == 1 && term.coefficient == 1;
  Value* result = nullptr;
  for (const auto& atom : term.atoms) {
    const bool shared = atom->kind != AtomKind::Symbol && !alone;  // found again by what it is
    Value* value = shared ? emit_dim(atom_dim(*atom)) : emit_atom(*atom);
    result = result ? builder_.CreateNSWMul(result, value) : value;
  }
  Value* coefficient = builder_.getInt64(static_cast<uint64_t>(term.coefficient));
  if (!result) return coefficient;
  return term.coefficient == 1 ? result : builder_.CreateNSWMul(result, coefficient);
}

Emitter::Value* Emitter::emit_atom(const Dim::Atom& atom) {
  if (atom.kind == AtomKind::Symbol) return bindings_.at(atom.symbol->name()).value;
  Value* a = emit_dim(atom.args[0]);
  if (atom.kind == AtomKind::FloorDiv) {
    const Dim& by = atom.args[1];
    if (by.is_const() && std::has_single_bit(static_cast<uint64_t>(by.const_value())))
      return builder_.CreateAShr(a, std::countr_zero(static_cast<uint64_t>(by.const_value())));
    Value* b = emit_dim(atom.args[1]);
    const int64_t least = atom.args[1].bounds().lo;
    if (least < 1) {  // an extent of 0: what is divided by it is never used
      b = builder_.CreateSelect(builder_.CreateICmpEQ(b, builder_.getInt64(0)),
                                builder_.getInt64(1), b);
    }
    Value* quotient = builder_.CreateSDiv(a, b);
    if (atom.args[0].bounds().lo >= 0 && least >= 0) return quotient;
    // Rounds toward minus infinity: one less where the remainder is not zero and the signs differ.
    Value* remainder = builder_.CreateSRem(a, b);
    Value* inexact = builder_.CreateICmpNE(remainder, builder_.getInt64(0));
    Value* negative = builder_.CreateICmpSLT(builder_.CreateXor(a, b), builder_.getInt64(0));
    return builder_.CreateSub(quotient, builder_.CreateZExt(builder_.CreateAnd(inexact, negative),
                                                            builder_.getInt64Ty()));
  }
  const auto id = atom.kind == AtomKind::Min ? llvm::Intrinsic::smin : llvm::Intrinsic::smax;
  for (size_t i = 1; i < atom.args.size(); ++i)
    a = builder_.CreateBinaryIntrinsic(id, a, emit_dim(atom.args[i]));
  return a;
}

// Pointer to an element. The part that depends on outer loops is a pointer of the outer scope. What
// no loop changes comes last, as an index: elements that differ in it alone share their pointers.
Emitter::Value* Emitter::address(int buffer, const Dim& raw) {
  const Dim offset = known(raw);
  const kernel::Buffer& info = kernel_.buffers[static_cast<size_t>(buffer)];
  llvm::Type* type = memory_type(info.dtype);
  const Dim variable = offset - offset.constant_term();
  std::map<size_t, Dim> by_depth;
  for (const Dim::Term& term : variable.terms()) {
    const Dim part = term_dim(term);
    by_depth[depth_of(part)] = by_depth[depth_of(part)] + part;
  }
  Dim sum = 0;
  Value* pointer = storage_[static_cast<size_t>(buffer)].base;
  const auto advance = [&](size_t depth, const Dim& part, Value* index) {
    sum = sum + part;
    auto& cached = scopes_[depth].addresses[{buffer, sum}];
    if (!cached) {
      llvm::IRBuilder<>::InsertPointGuard guard(builder_);
      builder_.SetInsertPoint(scopes_[depth].entry->getTerminator());
      cached = builder_.CreateInBoundsGEP(type, pointer, index);
    }
    pointer = cached;
  };
  size_t innermost = 0;
  for (const auto& [depth, part] : by_depth) {
    innermost = depth;
    if (depth > 0) advance(depth, part, emit_hoisted(part, depth));
  }
  if (const auto fixed = by_depth.find(0); fixed != by_depth.end())
    advance(innermost, fixed->second, emit_hoisted(fixed->second, 0));
  if (offset.constant_term() == 0) return pointer;
  return builder_.CreateInBoundsGEP(
      type, pointer, builder_.getInt64(static_cast<uint64_t>(offset.constant_term())));
}

llvm::AllocaInst*& Emitter::register_at(int buffer, const Dim& offset) {
  Storage& storage = storage_[static_cast<size_t>(buffer)];
  return storage
      .registers[register_place(buffer, offset, storage.vectors, storage.registers.size())];
}

void Emitter::bind(const Symbol& symbol, Value* value) {
  bindings_[symbol.name()] = {value, scopes_.size() - 1};
}

// Ends the current block with a branch to a fresh one: the finished block is where the scope's
// values are hoisted to.
void Emitter::push_scope() {
  llvm::BasicBlock* entry = builder_.GetInsertBlock();
  llvm::BasicBlock* next = llvm::BasicBlock::Create(context_, "", function_);
  builder_.CreateBr(next);
  builder_.SetInsertPoint(next);
  scopes_.push_back({entry, {}, {}, {}, {}});
}

}  // namespace tenon::codegen
