// Expressions. A value that does not depend on the lane stays a scalar and is spread only where it
// meets a vector.
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

}  // namespace tenon::codegen
