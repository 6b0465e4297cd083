// Loads and stores: neighbours as one vector, pairs by shuffles, what lies apart by gathers or one
// by one; guards as masks, so that memory is untouched where they fail.
#include "base/error.h"
#include "codegen/llvm/emitter.h"

namespace tenon::codegen {

using kernel::kLaneCount;

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
    } else if (guard && guard->getType()->isVectorTy()) {
      result =
          builder_.CreateMaskedLoad(vector_type(type), address(expr.buffer, at_lane(offset, 0)),
                                    align, guard, llvm::Constant::getNullValue(vector_type(type)));
    } else if (guard) {
      // All lanes or none: of memory that is there. A masked load of a page that is not takes the
      // processor hundreds of cycles to see that nothing was wanted.
      Value* there = address(expr.buffer, at_lane(offset, 0));
      result = builder_.CreateAlignedLoad(vector_type(type),
                                          builder_.CreateSelect(guard, there, zeros()), align);
    } else {
      result = builder_.CreateAlignedLoad(vector_type(type),
                                          address(expr.buffer, at_lane(offset, 0)), align);
    }
  } else if (guard) {
    // Outside lanes a guard is a mask over one element: no branch, memory untouched where it fails.
    // One element of all lanes is loaded where a lane needs it, and is 0 in those that do not.
    auto* one = llvm::FixedVectorType::get(type, 1);
    Value* lanes = guard->getType()->isVectorTy() ? guard : nullptr;
    if (lanes) guard = builder_.CreateOrReduce(lanes);
    result = builder_.CreateMaskedLoad(one, address(expr.buffer, offset), align, masked_lane(guard),
                                       llvm::Constant::getNullValue(one));
    result = builder_.CreateExtractElement(result, uint64_t{0});
    if (lanes) {
      result = builder_.CreateSelect(lanes, splat(result),
                                     llvm::Constant::getNullValue(vector_type(type)));
    }
  } else {
    result = builder_.CreateAlignedLoad(type, address(expr.buffer, offset), align);
  }
  if (buffer.dtype != DType::Bool) return result;
  return builder_.CreateICmpNE(result, llvm::Constant::getNullValue(result->getType()));
}

// A vector of zeros in memory, of the widest elements.
Emitter::Value* Emitter::zeros() {
  if (!zeros_) {
    llvm::IRBuilder<>::InsertPointGuard guard(builder_);
    builder_.SetInsertPoint(scopes_[0].entry->getTerminator());
    llvm::Type* type = vector_type(builder_.getInt64Ty());
    llvm::AllocaInst* memory = builder_.CreateAlloca(type);
    builder_.CreateStore(llvm::Constant::getNullValue(type), memory);
    zeros_ = memory;
  }
  return zeros_;
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

void Emitter::emit_prefetch(const kernel::Prefetch& prefetch) {
  constexpr int kIntoSecondCache = 2, kData = 1;
  const bool for_writing = kernel_.buffers[static_cast<size_t>(prefetch.buffer)].written;
  builder_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
      {address(prefetch.buffer, known(prefetch.offset)), builder_.getInt32(for_writing ? 1 : 0),
       builder_.getInt32(kIntoSecondCache), builder_.getInt32(kData)});
}

void Emitter::emit_vector_store(Value* value, Value* at, llvm::Align align, Value* guard) {
  if (guard) {
    builder_.CreateMaskedStore(value, at, align, splat(guard));
  } else {
    builder_.CreateAlignedStore(value, at, align);
  }
}

// Past the caches where they could not keep the buffer anyway, and a whole line is written at once.
void Emitter::emit_streamed(int buffer, Value* value, Value* at, Value* guard) {
  constexpr int64_t kCached = 64 << 20;
  constexpr uint64_t kLine = 64;
  const kernel::Buffer& target = kernel_.buffers[static_cast<size_t>(buffer)];
  streams_ = true;
  Value* bytes = emit_dim(target.elements * size_of(target.dtype));
  Value* small = builder_.CreateZExt(builder_.CreateICmpSLT(bytes, builder_.getInt64(kCached)),
                                     builder_.getInt64Ty());
  Value* bits = builder_.CreateOr(builder_.CreatePtrToInt(at, builder_.getInt64Ty()), small);
  Value* past = builder_.CreateICmpEQ(builder_.CreateAnd(bits, kLine - 1), builder_.getInt64(0));
  if (guard) past = builder_.CreateAnd(past, builder_.CreateAndReduce(splat(guard)));
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* past_caches = llvm::BasicBlock::Create(context_, "", function_);
  llvm::BasicBlock* through_caches = llvm::BasicBlock::Create(context_, "", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context_, "", function_);
  builder_.CreateCondBr(past, past_caches, through_caches);
  builder_.SetInsertPoint(past_caches);
  llvm::Instruction* store = builder_.CreateAlignedStore(value, at, llvm::Align(kLine));
  store->setMetadata(
      llvm::LLVMContext::MD_nontemporal,
      llvm::MDNode::get(context_, llvm::ConstantAsMetadata::get(builder_.getInt32(1))));
  builder_.CreateBr(after);
  builder_.SetInsertPoint(through_caches);
  const llvm::Align align(static_cast<uint64_t>(size_of(target.dtype)));
  emit_vector_store(value, at, align, guard);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  for (auto& [_, turned] : transposed_) {  // what was made before the branch is still there
    if (turned.block == before) turned.block = after;
  }
}

void Emitter::emit_store(const kernel::Store& store) {
  const kernel::Buffer& buffer = kernel_.buffers[static_cast<size_t>(store.buffer)];
  Value* value = emit_expr(store.value);
  if (buffer.storage == kernel::Storage::Register) {
    transposed_.erase(store.buffer);
    llvm::AllocaInst* target = register_at(store.buffer, store.offset);
    if (target->getAllocatedType()->isVectorTy()) value = splat(value);
    builder_.CreateStore(value, target);
    return;
  }
  if (buffer.dtype == DType::Bool) {
    llvm::Type* byte = builder_.getInt8Ty();
    value = builder_.CreateZExt(value, value->getType()->isVectorTy() ? vector_type(byte) : byte);
  }
  const llvm::Align align(static_cast<uint64_t>(size_of(buffer.dtype)));
  const Dim offset = known(store.offset);
  Value* guard = emit_guards(store.guards);
  if (!lane_) {
    Value* at = address(store.buffer, offset);
    if (!guard) {
      builder_.CreateAlignedStore(value, at, align);
      return;
    }
    auto* one = llvm::FixedVectorType::get(value->getType(), 1);
    value = builder_.CreateInsertElement(llvm::PoisonValue::get(one), value, uint64_t{0});
    builder_.CreateMaskedStore(value, at, align, masked_lane(guard));
    return;
  }
  value = splat(value);
  if (uses_lane_symbols(offset)) {
    builder_.CreateMaskedScatter(value, lane_addresses(store.buffer, offset), align,
                                 guard ? splat(guard) : nullptr);
    return;
  }
  if (is_lane_step(offset)) {
    Value* at = address(store.buffer, at_lane(offset, 0));
    if (store.streamed) return emit_streamed(store.buffer, value, at, guard);
    return emit_vector_store(value, at, align, guard);
  }
  // Lanes apart: one store each; guarded ones through a mask of one lane.
  for (int64_t lane = 0; lane < kLaneCount; ++lane) {
    Value* at = address(store.buffer, at_lane(offset, lane));
    Value* element = builder_.CreateExtractElement(value, static_cast<uint64_t>(lane));
    if (!guard) {
      builder_.CreateAlignedStore(element, at, align);
      continue;
    }
    auto* one = llvm::FixedVectorType::get(element->getType(), 1);
    Value* mask =
        masked_lane(builder_.CreateExtractElement(splat(guard), static_cast<uint64_t>(lane)));
    builder_.CreateMaskedStore(
        builder_.CreateInsertElement(llvm::PoisonValue::get(one), element, uint64_t{0}), at, align,
        mask);
  }
}

}  // namespace tenon::codegen
