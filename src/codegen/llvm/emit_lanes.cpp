// Index expressions that differ from lane to lane in other ways than by a constant step: windows
// that wrap from row to row, positions divided by strides. They become vectors of i64, each part
// computed in the outermost scope that knows its symbols.
#include <algorithm>

#include "base/error.h"
#include "codegen/llvm/emitter.h"

namespace tenon::codegen {

using kernel::kLaneCount;

namespace {

// Below these bounds a multiplication and a shift divide exactly.
constexpr int64_t kSmall = int64_t{1} << 15;
constexpr int kShift = 32;

}  // namespace

// The scope where everything but the lane is known.
size_t Emitter::lane_depth(const Dim& dim) const {
  size_t depth = 0;
  for (const Symbol& symbol : dim.symbols()) {
    if (symbol != *lane_) depth = std::max(depth, depth_of(symbol));
  }
  return depth;
}

Emitter::Value* Emitter::emit_lane_dim(const Dim& raw) {
  const Dim dim = known(raw);
  if (!is_lane_varying(dim)) return splat(emit_dim(dim));
  return at_home(dim, [&]() -> Value* {
    Dim same = 0;
    Value* result = nullptr;
    for (const Dim::Term& term : dim.terms()) {
      const Dim part = term_dim(term);
      if (!is_lane_varying(part)) {
        same = same + part;
        continue;
      }
      Value* value = part == dim ? emit_lane_product(term) : emit_lane_dim(part);
      result = result ? builder_.CreateAdd(result, value) : value;
    }
    return same.is_const(0) ? result : builder_.CreateAdd(result, splat(emit_dim(same)));
  });
}

// What `make` makes, in the outermost scope that knows the symbols of `dim`, once.
Emitter::Value* Emitter::at_home(const Dim& dim, const std::function<Value*()>& make) {
  if (uses_lane_symbols(dim)) return make();  // lets of the vector loop exist only here
  const size_t depth = lane_depth(dim);
  const auto it = scopes_[depth].lanes.find(dim);
  if (it != scopes_[depth].lanes.end()) return it->second;
  llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(scopes_[depth].entry->getTerminator());
  return scopes_[depth].lanes[dim] = make();
}

Emitter::Value* Emitter::emit_lane_product(const Dim::Term& term) {
  Value* result = nullptr;
  for (const auto& atom : term.atoms) {
    Value* value = emit_lane_atom(*atom);
    result = result ? builder_.CreateMul(result, value) : value;
  }
  if (term.coefficient == 1) return result;
  Value* factor = splat(builder_.getInt64(static_cast<uint64_t>(term.coefficient)));
  return builder_.CreateMul(result, factor);
}

Emitter::Value* Emitter::emit_lane_atom(const Dim::Atom& atom) {
  if (atom.kind == AtomKind::Symbol) {
    if (*atom.symbol == *lane_)
      return builder_.CreateStepVector(vector_type(builder_.getInt64Ty()));
    const auto it = lane_symbols_.find(atom.symbol->name());
    return it != lane_symbols_.end() ? it->second : splat(emit_dim(*atom.symbol));
  }
  if (atom.kind == AtomKind::FloorDiv) return emit_lane_quotient(atom.args[0], atom.args[1]);
  const auto id = atom.kind == AtomKind::Min ? llvm::Intrinsic::smin : llvm::Intrinsic::smax;
  Value* result = emit_lane_dim(atom.args[0]);
  for (size_t i = 1; i < atom.args.size(); ++i)
    result = builder_.CreateBinaryIntrinsic(id, result, emit_lane_dim(atom.args[i]));
  return result;
}

// floordiv(a, b). Where the lanes of `a` are a constant step apart there is one division, of the
// first lane: the others add what its remainder and their steps make, which is small.
Emitter::Value* Emitter::emit_lane_quotient(const Dim& a, const Dim& b) {
  const bool linear = !uses_lane_symbols(a) && a.coefficient(*lane_) && b.is_const();
  if (linear && a.coefficient(*lane_)->is_const()) {
    const int64_t step = a.coefficient(*lane_)->const_value(), divisor = b.const_value();
    if (step >= 0 && divisor > 0 && divisor < kSmall && step * kLaneCount < kSmall) {
      const Dim first = at_lane(a, 0);
      const Dim quotient = floordiv(first, divisor);
      Value* rest = emit_lane_dim(first - quotient * divisor + Dim(*lane_) * step);
      const int64_t inverse = ((int64_t{1} << kShift) + divisor - 1) / divisor;
      rest = builder_.CreateMul(rest, splat(builder_.getInt64(static_cast<uint64_t>(inverse))));
      rest = builder_.CreateLShr(rest, splat(builder_.getInt64(kShift)));
      return builder_.CreateAdd(rest, splat(emit_dim(quotient)));
    }
  }
  Value *numerator = emit_lane_dim(a), *divisor = emit_lane_dim(b);
  Value* zero = splat(builder_.getInt64(0));
  const int64_t least = b.bounds().lo;
  if (least < 0) {  // both turn their signs where the divisor is negative
    Value* turns = builder_.CreateICmpSLT(divisor, zero);
    numerator = builder_.CreateSelect(turns, builder_.CreateNeg(numerator), numerator);
    divisor = builder_.CreateSelect(turns, builder_.CreateNeg(divisor), divisor);
  }
  if (least < 1) {  // an extent of 0: what is divided by it is never used
    divisor =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, divisor, splat(builder_.getInt64(1)));
  }
  Value* quotient = builder_.CreateSDiv(numerator, divisor);
  if (a.bounds().lo >= 0 && least >= 0) return quotient;
  Value* remainder = builder_.CreateSub(numerator, builder_.CreateMul(quotient, divisor));
  Value* below = builder_.CreateICmpSLT(remainder, zero);  // divisors are positive
  return builder_.CreateAdd(quotient, builder_.CreateSExt(below, zero->getType()));
}

bool Emitter::uses_lane_symbols(const Dim& dim) const {
  if (lane_symbols_.empty()) return false;
  const auto symbols = dim.symbols();
  return std::any_of(symbols.begin(), symbols.end(),
                     [&](const Symbol& s) { return lane_symbols_.contains(s.name()); });
}

// 0 <= index < bound, lane by lane.
Emitter::Value* Emitter::emit_lane_guard(const Dim& index, const Dim& bound) {
  auto compare = [&] {  // a negative index is a large unsigned one
    Value *at = emit_lane_dim(index), *end = emit_lane_dim(bound);
    return builder_.CreateICmpULT(at, end);
  };
  if (uses_lane_symbols(index) || uses_lane_symbols(bound)) return compare();
  const size_t depth = std::max(lane_depth(index), lane_depth(bound));
  const auto key = std::make_pair(index, bound);
  const auto it = scopes_[depth].masks.find(key);
  if (it != scopes_[depth].masks.end()) return it->second;
  llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(scopes_[depth].entry->getTerminator());
  return scopes_[depth].masks[key] = compare();
}

bool Emitter::is_lane_step(const Dim& dim) const {
  const auto stride = dim.coefficient(*lane_);
  return stride && stride->is_const(1) && !uses_lane_symbols(dim);
}

// A pointer per lane.
Emitter::Value* Emitter::lane_addresses(int buffer, const Dim& raw) {
  Dim same = 0, varying = 0;
  const Dim offset = known(raw);
  for (const Dim::Term& term : offset.terms()) {
    const Dim part = term_dim(term);
    (is_lane_varying(part) ? varying : same) = (is_lane_varying(part) ? varying : same) + part;
  }
  Value* places = emit_lane_dim(varying);
  const Bounds bounds = varying.bounds();
  if (bounds.lo >= INT32_MIN && bounds.hi <= INT32_MAX)
    places = builder_.CreateTrunc(places, vector_type(builder_.getInt32Ty()));
  llvm::Type* type = memory_type(kernel_.buffers[static_cast<size_t>(buffer)].dtype);
  return builder_.CreateGEP(type, address(buffer, same), places);
}

// Elements at places of their own, one instruction for all lanes.
Emitter::Value* Emitter::emit_gather(const kernel::Expr& expr, Value* guard) {
  const kernel::Buffer& buffer = kernel_.buffers[static_cast<size_t>(expr.buffer)];
  llvm::Type* type = vector_type(memory_type(buffer.dtype));
  const llvm::Align align(static_cast<uint64_t>(size_of(buffer.dtype)));
  Value* mask = guard ? splat(guard) : splat(builder_.getTrue());
  return builder_.CreateMaskedGather(type, lane_addresses(expr.buffer, expr.index), align, mask,
                                     llvm::Constant::getNullValue(type));
}

// Every second element: two vectors, of which masks let only those through that are asked for.
Emitter::Value* Emitter::emit_load_pairs(const kernel::Expr& expr, Value* guard) {
  const kernel::Buffer& buffer = kernel_.buffers[static_cast<size_t>(expr.buffer)];
  llvm::Type* type = vector_type(memory_type(buffer.dtype));
  const llvm::Align align(static_cast<uint64_t>(size_of(buffer.dtype)));
  const Dim first = at_lane(known(expr.index), 0);
  Value* wanted = guard ? splat(guard) : splat(builder_.getTrue());
  Value* never = llvm::Constant::getNullValue(wanted->getType());
  std::vector<Value*> halves;
  std::vector<int> even;
  for (int half = 0; half < 2; ++half) {
    std::vector<int> spread;
    for (int i = 0; i < kLaneCount; ++i)
      spread.push_back(i % 2 == 0 ? half * 8 + i / 2 : static_cast<int>(kLaneCount));
    Value* mask = builder_.CreateShuffleVector(wanted, never, spread);
    halves.push_back(builder_.CreateMaskedLoad(type,
                                               address(expr.buffer, first + half * kLaneCount),
                                               align, mask, llvm::Constant::getNullValue(type)));
  }
  for (int i = 0; i < kLaneCount; ++i) even.push_back(2 * i);
  return builder_.CreateShuffleVector(halves[0], halves[1], even);
}

}  // namespace tenon::codegen
