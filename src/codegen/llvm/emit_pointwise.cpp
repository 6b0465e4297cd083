// Arithmetic, element by element.
#include <llvm/IR/IntrinsicsX86.h>

#include <cmath>

#include "base/error.h"
#include "codegen/llvm/emitter.h"

namespace tenon::codegen {

using kernel::Op;

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
  if (is_float(from) && info(to).bits < 32) return emit_narrowed(x, to);
  if (is_float(from)) {
    const bool to_signed = info(to).kind == DTypeKind::Signed;
    return builder_.CreateIntrinsic(
        to_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat, {type, x->getType()},
        {x});
  }
  return builder_.CreateIntCast(x, type, from_signed);
}

// A float as an integer of fewer than 32 bits, the nearest one where it has none, 0 for NaN:
// through i32, which machines convert to. LLVM has its saturating conversion to fewer bits lane by
// lane.
Emitter::Value* Emitter::emit_narrowed(Value* x, DType to) {
  const bool to_signed = info(to).kind == DTypeKind::Signed;
  const int bits = info(to).bits;
  const double least = to_signed ? -std::ldexp(1, bits - 1) : 0;
  const double most = std::ldexp(1, bits - (to_signed ? 1 : 0)) - 1;
  const auto number = [&](double value) { return llvm::ConstantFP::get(x->getType(), value); };
  x = builder_.CreateSelect(builder_.CreateFCmpUNO(x, x), number(0), x);
  x = builder_.CreateSelect(builder_.CreateFCmpOGT(x, number(least)), x, number(least));
  x = builder_.CreateSelect(builder_.CreateFCmpOLT(x, number(most)), x, number(most));
  const bool vector = x->getType()->isVectorTy();
  const auto shaped = [&](llvm::Type* type) { return vector ? vector_type(type) : type; };
  Value* wide = builder_.CreateFPToSI(x, shaped(builder_.getInt32Ty()));
  return builder_.CreateTrunc(wide, shaped(scalar_type(to)));
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

// The machine has it for vectors only.
Emitter::Value* Emitter::emit_dot2(Value* a, Value* b, Value* c) {
  llvm::Type* pairs = llvm::FixedVectorType::get(builder_.getBFloatTy(), 2 * kernel::kLaneCount);
  Value* sum = builder_.CreateIntrinsic(
      llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, {},
      {splat(c), builder_.CreateBitCast(splat(a), pairs), builder_.CreateBitCast(splat(b), pairs)});
  return c->getType()->isVectorTy() ? sum : builder_.CreateExtractElement(sum, uint64_t{0});
}

Emitter::Value* Emitter::emit_dot4(Value* a, Value* b, Value* c) {
  Value* sum = builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpdpbusd_512, {},
                                        {splat(c), splat(a), splat(b)});
  return c->getType()->isVectorTy() ? sum : builder_.CreateExtractElement(sum, uint64_t{0});
}

Emitter::Value* Emitter::emit_step(Op op, Value* a, Value* b, Value* c) {
  if (op == Op::Dot2) return emit_dot2(a, b, c);
  return op == Op::Dot4 ? emit_dot4(a, b, c) : emit_fma(a, b, c);
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
    case Op::Dot2:
    case Op::Dot4:
      return emit_step(expr.op, x[0], x[1], x[2]);
    case Op::Select:
      return builder_.CreateSelect(x[0], x[1], x[2]);
    default:
      throw internal_error("kernel {}: no code for {}", kernel_.name, kernel::info(expr.op).text);
  }
}

}  // namespace tenon::codegen
