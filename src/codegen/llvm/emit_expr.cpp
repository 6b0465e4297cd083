// Expressions. A value that does not depend on the lane stays a scalar and is spread only where it
// meets a vector.
#include <llvm/IR/IntrinsicsX86.h>

#include "base/error.h"
#include "codegen/llvm/emitter.h"

namespace tenon::codegen {

using kernel::kLaneCount;
using kernel::Op;

llvm::Type* Emitter::scalar_type(DType dtype) const {
  if (dtype == DType::Bool) return llvm::Type::getInt1Ty(context_);
  return memory_type(dtype);
}

// Floats that are not computed with are their bits.
llvm::Type* Emitter::memory_type(DType dtype) const {
  if (dtype == DType::F32) return llvm::Type::getFloatTy(context_);
  if (dtype == DType::F64) return llvm::Type::getDoubleTy(context_);
  return llvm::Type::getIntNTy(context_, static_cast<unsigned>(size_of(dtype) * 8));
}

llvm::Type* Emitter::vector_type(llvm::Type* element) const {
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(kLaneCount));
}

Emitter::Value* Emitter::splat(Value* x) {
  return x->getType()->isVectorTy()
             ? x
             : builder_.CreateVectorSplat(static_cast<unsigned>(kLaneCount), x);
}

void Emitter::unify(Value*& a, Value*& b) {
  if (a->getType()->isVectorTy() != b->getType()->isVectorTy()) a = splat(a), b = splat(b);
}

Emitter::Value* Emitter::emit_constant(DType dtype, double value) {
  llvm::Type* type = scalar_type(dtype);
  if (type->isFloatingPointTy()) return llvm::ConstantFP::get(type, value);
  uint64_t bits = 0;
  if (dtype == DType::U64) {
    bits = static_cast<uint64_t>(value);  // beyond the range of i64, too
  } else {
    store_from_f64(dtype, &bits, value);
  }
  return llvm::ConstantInt::get(type, bits);
}

Emitter::Value* Emitter::emit_expr(const kernel::ExprRef& ref) {
  const kernel::Expr& expr = *ref;
  if (const auto it = memo_.find(&expr); it != memo_.end()) return it->second;
  Value* result = nullptr;
  switch (expr.op) {
    case Op::Const:
      result = emit_constant(expr.dtype, expr.value);
      break;
    case Op::Load:
      result = emit_load(expr);
      break;
    case Op::InRange:
      result = emit_guard(expr.index, expr.bound);
      break;
    case Op::Index: {
      const Dim index = known(expr.index);
      if (is_lane_varying(index)) {
        result = emit_lane_dim(index);
      } else {
        result = emit_dim(index);
      }
      result = emit_cast(result, DType::I64, expr.dtype);
      break;
    }
    case Op::LanesAdd:
    case Op::LanesMul:
    case Op::LanesMax:
      result = emit_lanes(expr);
      break;
    default:
      result = emit_pointwise(expr);
  }
  if (!result) result = builder_.getTrue();
  memo_[&expr] = result;
  return result;
}

Emitter::Value* Emitter::emit_load(const kernel::Expr& expr) {
  const kernel::Buffer& buffer = kernel_.buffers[static_cast<size_t>(expr.buffer)];
  const Dim offset = known(expr.index);
  if (buffer.storage == kernel::Storage::Register) {
    if (lane_ && offset.coefficient(*lane_) == Dim(kLaneCount))
      return emit_register_column(expr.buffer, offset);
    llvm::AllocaInst* source = register_at(expr.buffer, offset);
    return builder_.CreateLoad(source->getAllocatedType(), source);
  }
  llvm::Type* type = memory_type(buffer.dtype);
  const llvm::Align align(static_cast<uint64_t>(size_of(buffer.dtype)));
  Value* guard = emit_guards(expr.guards);
  Value* result = nullptr;
  if (lane_ && is_lane_varying(offset)) {
    const auto stride = offset.uses(*lane_) ? offset.coefficient(*lane_) : std::nullopt;
    const bool contiguous = is_lane_step(offset);
    const bool steps = stride && stride->is_const() && !uses_lane_symbols(offset);
    const bool wide = info(buffer.dtype).bits >= 32;
    if (steps && stride->is_const(2) && wide) {
      result = emit_load_pairs(expr, guard);
    } else if (!contiguous && (uses_lane_symbols(offset) || ((guard || !steps) && wide))) {
      result = emit_gather(expr, guard);
    } else if (!contiguous) {
      result = emit_load_lanes(expr);
    } else if (guard) {
      result = builder_.CreateMaskedLoad(
          vector_type(type), address(expr.buffer, at_lane(offset, 0)), align, splat(guard),
          llvm::Constant::getNullValue(vector_type(type)));
    } else {
      result = builder_.CreateAlignedLoad(vector_type(type),
                                          address(expr.buffer, at_lane(offset, 0)), align);
    }
  } else if (guard) {
    // Outside lanes a guard is a mask over one element: no branch, memory untouched where it fails.
    auto* one = llvm::FixedVectorType::get(type, 1);
    if (guard->getType()->isVectorTy()) guard = builder_.CreateOrReduce(guard);
    result = builder_.CreateMaskedLoad(one, address(expr.buffer, offset), align, masked_lane(guard),
                                       llvm::Constant::getNullValue(one));
    result = builder_.CreateExtractElement(result, uint64_t{0});
  } else {
    result = builder_.CreateAlignedLoad(type, address(expr.buffer, offset), align);
  }
  if (buffer.dtype != DType::Bool) return result;
  return builder_.CreateICmpNE(result, llvm::Constant::getNullValue(result->getType()));
}

// A 16 x 16 register buffer read across its vectors: the first such read transposes all of it by
// shuffles, in four rounds that exchange halves of 8, 4, 2 and 1; the following ones find their
// vector made.
Emitter::Value* Emitter::emit_register_column(int buffer, const Dim& offset) {
  const Storage& storage = storage_[static_cast<size_t>(buffer)];
  const Dim column = at_lane(offset, 0);
  TENON_CHECK(storage.vectors && static_cast<int64_t>(storage.registers.size()) == kLaneCount &&
                  column.is_const(),
              "kernel {}: a column of a register buffer that is not {} x {}", kernel_.name,
              kLaneCount, kLaneCount);
  Transposed& cached = transposed_[buffer];
  if (cached.block != builder_.GetInsertBlock()) {
    std::vector<Value*> v;
    for (llvm::AllocaInst* r : storage.registers)
      v.push_back(builder_.CreateLoad(r->getAllocatedType(), r));
    for (int half = static_cast<int>(kLaneCount) / 2; half >= 1; half /= 2) {
      std::vector<int> low, high;  // lanes of (a, b) that make the new a and the new b
      for (int lane = 0; lane < kLaneCount; ++lane) {
        const bool upper = (lane & half) != 0;
        low.push_back(upper ? lane - half + static_cast<int>(kLaneCount) : lane);
        high.push_back(upper ? lane + static_cast<int>(kLaneCount) : lane + half);
      }
      const auto distance = static_cast<size_t>(half);
      for (size_t row = 0; row < static_cast<size_t>(kLaneCount); ++row) {
        if (row & distance) continue;
        Value *&a = v[row], *&b = v[row + distance];
        Value* new_a = builder_.CreateShuffleVector(a, b, low);
        b = builder_.CreateShuffleVector(a, b, high);
        a = new_a;
      }
    }
    cached = {builder_.GetInsertBlock(), std::move(v)};
  }
  return cached.columns[static_cast<size_t>(column.const_value())];
}

// Elements that are not neighbours: one scalar load per lane.
Emitter::Value* Emitter::emit_load_lanes(const kernel::Expr& expr) {
  const kernel::Buffer& buffer = kernel_.buffers[static_cast<size_t>(expr.buffer)];
  llvm::Type* type = memory_type(buffer.dtype);
  const llvm::Align align(static_cast<uint64_t>(size_of(buffer.dtype)));
  Value* guard = emit_guards(expr.guards);
  Value* result = llvm::Constant::getNullValue(vector_type(type));
  for (int64_t lane = 0; lane < kLaneCount; ++lane) {
    const auto at = static_cast<uint64_t>(lane);
    Value* pointer = address(expr.buffer, at_lane(known(expr.index), lane));
    Value* element = nullptr;
    if (guard) {
      auto* one = llvm::FixedVectorType::get(type, 1);
      Value* mask = masked_lane(builder_.CreateExtractElement(splat(guard), at));
      element = builder_.CreateExtractElement(
          builder_.CreateMaskedLoad(one, pointer, align, mask, llvm::Constant::getNullValue(one)),
          uint64_t{0});
    } else {
      element = builder_.CreateAlignedLoad(type, pointer, align);
    }
    result = builder_.CreateInsertElement(result, element, at);
  }
  return result;
}

Emitter::Value* Emitter::masked_lane(Value* holds) {
  auto* one = llvm::FixedVectorType::get(builder_.getInt1Ty(), 1);
  return builder_.CreateInsertElement(llvm::PoisonValue::get(one), holds, uint64_t{0});
}

Emitter::Value* Emitter::emit_guards(const std::vector<kernel::Guard>& guards) {
  Value* result = nullptr;
  for (const kernel::Guard& guard : guards) {
    Value* holds = emit_guard(guard.index, guard.bound);
    if (!holds) continue;
    if (result) unify(result, holds);
    result = result ? builder_.CreateAnd(result, holds) : holds;
  }
  return result;
}

// 0 <= index < bound; null where it always holds.
Emitter::Value* Emitter::emit_guard(const Dim& raw_index, const Dim& raw_bound) {
  const Dim index = known(raw_index);
  const Dim bound = known(raw_bound);
  if (!is_lane_varying(index) && !is_lane_varying(bound)) {
    Value* at = emit_dim(index);
    return builder_.CreateICmpULT(at, emit_dim(bound));  // a negative index is a large unsigned one
  }
  if (!is_lane_step(index) || is_lane_varying(bound)) return emit_lane_guard(index, bound);
  return emit_lane_mask(at_lane(index, 0), bound);
}

// Lane l holds where 0 <= first + l < bound. Made once, in the scope that knows both.
Emitter::Value* Emitter::emit_lane_mask(const Dim& first, const Dim& bound) {
  const size_t depth = std::max(depth_of(first), depth_of(bound));
  const auto key = std::make_pair(first, bound);
  if (const auto it = scopes_[depth].masks.find(key); it != scopes_[depth].masks.end())
    return it->second;
  // l < bound - first and l >= -first, both clamped to 0..kLaneCount so that 32 bits do.
  auto clamped = [&](const Dim& dim) {
    Value* x = emit_dim(dim);
    builder_.SetInsertPoint(scopes_[depth].entry->getTerminator());
    x = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, builder_.getInt64(kLaneCount));
    x = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, builder_.getInt64(0));
    return splat(builder_.CreateTrunc(x, builder_.getInt32Ty()));
  };
  llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  Value* lanes = builder_.CreateStepVector(vector_type(builder_.getInt32Ty()));
  Value* mask = builder_.CreateICmpSLT(lanes, clamped(bound - first));
  if (first.bounds().lo < 0)
    mask = builder_.CreateAnd(mask, builder_.CreateICmpSGE(lanes, clamped(Dim(0) - first)));
  return scopes_[depth].masks[key] = mask;
}

Emitter::Value* Emitter::emit_greater(Value* a, Value* b, DType dtype) {
  if (is_float(dtype)) return builder_.CreateFCmpOGT(a, b);
  return info(dtype).kind == DTypeKind::Signed ? builder_.CreateICmpSGT(a, b)
                                               : builder_.CreateICmpUGT(a, b);
}

// Halves of 8, 4, 2, 1: the same tree on every machine.
Emitter::Value* Emitter::emit_lanes(const kernel::Expr& expr) {
  Value* v = builder_.CreateLoad(vector_type(scalar_type(expr.dtype)),
                                 storage_[static_cast<size_t>(expr.buffer)].registers.at(0));
  for (int half = static_cast<int>(kLaneCount) / 2; half >= 1; half /= 2) {
    std::vector<int> low, high;
    for (int i = 0; i < half; ++i) low.push_back(i), high.push_back(i + half);
    Value* a = builder_.CreateShuffleVector(v, low);
    Value* b = builder_.CreateShuffleVector(v, high);
    const bool real = is_float(expr.dtype);
    if (expr.op == Op::LanesAdd) {
      v = real ? builder_.CreateFAdd(a, b) : builder_.CreateAdd(a, b);
    } else if (expr.op == Op::LanesMul) {
      v = real ? builder_.CreateFMul(a, b) : builder_.CreateMul(a, b);
    } else {
      v = builder_.CreateSelect(emit_greater(a, b, expr.dtype), a, b);
    }
  }
  return builder_.CreateExtractElement(v, uint64_t{0});
}

Emitter::Value* Emitter::emit_cast(Value* x, DType from, DType to) {
  if (from == to) return x;
  auto shaped = [&](llvm::Type* type) {
    return x->getType()->isVectorTy() ? vector_type(type) : type;
  };
  llvm::Type* type = shaped(scalar_type(to));
  if (to == DType::Bool) {
    llvm::Constant* zero = llvm::Constant::getNullValue(x->getType());
    return is_float(from) ? builder_.CreateFCmpUNE(x, zero) : builder_.CreateICmpNE(x, zero);
  }
  const bool from_signed = info(from).kind == DTypeKind::Signed;
  llvm::Type* half = shaped(builder_.getHalfTy());
  if (from == DType::F16) return builder_.CreateFPExt(builder_.CreateBitCast(x, half), type);
  if (to == DType::F16) return builder_.CreateBitCast(builder_.CreateFPTrunc(x, half), type);
  if (is_float(from) && is_float(to)) return builder_.CreateFPCast(x, type);
  if (is_float(to))
    return from_signed ? builder_.CreateSIToFP(x, type) : builder_.CreateUIToFP(x, type);
  if (is_float(from)) {
    const bool to_signed = info(to).kind == DTypeKind::Signed;
    return builder_.CreateIntrinsic(
        to_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat, {type, x->getType()},
        {x});
  }
  return builder_.CreateIntCast(x, type, from_signed);
}

// Truncates. By zero it is 0 and the smallest integer by -1 is itself: the CPU's division would end
// the process, be it only in a masked lane.
Emitter::Value* Emitter::emit_integer_quotient(Value* a, Value* b, bool is_signed) {
  llvm::Type* type = a->getType();
  llvm::Constant* zero = llvm::Constant::getNullValue(type);
  llvm::Constant* one = llvm::ConstantInt::get(type, 1);
  Value* by_zero = builder_.CreateICmpEQ(b, zero);
  Value* safe = builder_.CreateSelect(by_zero, one, b);
  if (!is_signed) return builder_.CreateSelect(by_zero, zero, builder_.CreateUDiv(a, safe));
  Value* by_minus_one = builder_.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(type));
  safe = builder_.CreateSelect(by_minus_one, one, safe);
  Value* quotient = builder_.CreateSDiv(a, safe);
  quotient = builder_.CreateSelect(by_minus_one, builder_.CreateNeg(a), quotient);
  return builder_.CreateSelect(by_zero, zero, quotient);
}

// x * 2^n. Without an instruction for it, by two factors: the first product is exact.
Emitter::Value* Emitter::emit_scale(Value* x, Value* n) {
  const bool vector = x->getType()->isVectorTy();
  if (vector && has_scale_) {
    constexpr uint64_t kCurrentRounding = 4;
    return builder_.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
        {x, n, llvm::PoisonValue::get(x->getType()), builder_.getInt16(0xffff),
         builder_.getInt32(kCurrentRounding)});
  }
  llvm::Type* i32 = vector ? vector_type(builder_.getInt32Ty()) : builder_.getInt32Ty();
  auto number = [&](uint64_t value) { return llvm::ConstantInt::get(i32, value); };
  auto power = [&](Value* e) {
    Value* bits = builder_.CreateShl(builder_.CreateAdd(e, number(127)), number(23));
    return builder_.CreateBitCast(bits, x->getType());
  };
  Value* whole = builder_.CreateFPToSI(n, i32);
  Value* half = builder_.CreateAShr(whole, number(1));
  x = builder_.CreateFMul(x, power(half));
  return builder_.CreateFMul(x, power(builder_.CreateSub(whole, half)));
}

// Rounded once; integers wrap.
Emitter::Value* Emitter::emit_fma(Value* a, Value* b, Value* c) {
  if (a->getType()->isIntOrIntVectorTy()) return builder_.CreateAdd(builder_.CreateMul(a, b), c);
  return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

Emitter::Value* Emitter::emit_pointwise(const kernel::Expr& expr) {
  std::vector<Value*> x;
  bool vector = false;
  for (const kernel::ExprRef& arg : expr.args) {
    x.push_back(emit_expr(arg));
    vector = vector || x.back()->getType()->isVectorTy();
  }
  if (vector) {
    for (Value*& value : x) value = splat(value);
  }
  const DType dtype = expr.args[0]->dtype;
  const bool real = is_float(dtype);
  const bool is_signed = info(dtype).kind == DTypeKind::Signed;
  auto compare = [&](llvm::CmpInst::Predicate f, llvm::CmpInst::Predicate s,
                     llvm::CmpInst::Predicate u) {
    return builder_.CreateCmp(real ? f : is_signed ? s : u, x[0], x[1]);
  };
  using P = llvm::CmpInst;
  auto integer_vector = [&](Value* v) {
    llvm::Type* i32 = builder_.getInt32Ty();
    return v->getType()->isVectorTy() ? vector_type(i32) : i32;
  };
  auto i32_constant = [&](Value* v, uint64_t bits) {
    return llvm::ConstantInt::get(integer_vector(v), bits);
  };
  auto float_like = [&](Value* v) {
    llvm::Type* f = builder_.getFloatTy();
    return v->getType()->isVectorTy() ? vector_type(f) : f;
  };
  auto shift_amount = [&](Value* by) {
    const auto last = static_cast<uint64_t>(info(dtype).bits - 1);
    return builder_.CreateAnd(by, llvm::ConstantInt::get(by->getType(), last));
  };
  switch (expr.op) {
    case Op::Neg:
      return real ? builder_.CreateFNeg(x[0]) : builder_.CreateNeg(x[0]);
    case Op::Abs:
      if (real) return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x[0]);
      return is_signed
                 ? builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x[0], builder_.getFalse())
                 : x[0];
    case Op::Sqrt:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x[0]);
    case Op::Round:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, x[0]);
    case Op::Floor:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x[0]);
    case Op::Pow2: {
      Value* n = builder_.CreateFPToSI(x[0], integer_vector(x[0]));
      n = builder_.CreateShl(builder_.CreateAdd(n, i32_constant(n, 127)), i32_constant(n, 23));
      return builder_.CreateBitCast(n, float_like(n));
    }
    case Op::Scale:
      return emit_scale(x[0], x[1]);
    case Op::Exponent: {
      Value* bits = builder_.CreateBitCast(x[0], integer_vector(x[0]));
      bits = builder_.CreateAnd(builder_.CreateLShr(bits, i32_constant(bits, 23)),
                                i32_constant(bits, 255));
      return builder_.CreateSIToFP(builder_.CreateSub(bits, i32_constant(bits, 127)),
                                   float_like(bits));
    }
    case Op::Mantissa: {
      Value* bits = builder_.CreateBitCast(x[0], integer_vector(x[0]));
      bits = builder_.CreateAnd(bits, i32_constant(bits, 0x7FFFFF));
      return builder_.CreateBitCast(builder_.CreateOr(bits, i32_constant(bits, 0x3F800000)),
                                    float_like(bits));
    }
    case Op::Not:
      return builder_.CreateNot(x[0]);
    case Op::Cast:
      return emit_cast(x[0], dtype, expr.dtype);
    case Op::Add:
      return real ? builder_.CreateFAdd(x[0], x[1]) : builder_.CreateAdd(x[0], x[1]);
    case Op::Sub:
      return real ? builder_.CreateFSub(x[0], x[1]) : builder_.CreateSub(x[0], x[1]);
    case Op::Mul:
      return real ? builder_.CreateFMul(x[0], x[1]) : builder_.CreateMul(x[0], x[1]);
    case Op::Div:
      if (real) return builder_.CreateFDiv(x[0], x[1]);
      return emit_integer_quotient(x[0], x[1], is_signed);
    case Op::Min:
      return builder_.CreateSelect(emit_greater(x[1], x[0], dtype), x[0], x[1]);
    case Op::Max:
      return builder_.CreateSelect(emit_greater(x[0], x[1], dtype), x[0], x[1]);
    case Op::Equal:
      return compare(P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ);
    case Op::Less:
      return compare(P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT);
    case Op::LessEqual:
      return compare(P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE);
    case Op::And:
      return builder_.CreateAnd(x[0], x[1]);
    case Op::Or:
      return builder_.CreateOr(x[0], x[1]);
    case Op::BitCast: {
      llvm::Type* type = scalar_type(expr.dtype);
      return builder_.CreateBitCast(x[0], vector ? vector_type(type) : type);
    }
    case Op::BitAnd:
      return builder_.CreateAnd(x[0], x[1]);
    case Op::BitOr:
      return builder_.CreateOr(x[0], x[1]);
    case Op::BitXor:
      return builder_.CreateXor(x[0], x[1]);
    case Op::ShiftLeft:
      return builder_.CreateShl(x[0], shift_amount(x[1]));
    case Op::ShiftRight:
      return is_signed ? builder_.CreateAShr(x[0], shift_amount(x[1]))
                       : builder_.CreateLShr(x[0], shift_amount(x[1]));
    case Op::Fma:
      return emit_fma(x[0], x[1], x[2]);
    case Op::Select:
      return builder_.CreateSelect(x[0], x[1], x[2]);
    default:
      throw internal_error("kernel {}: no code for {}", kernel_.name, kernel::info(expr.op).text);
  }
}

}  // namespace tenon::codegen
