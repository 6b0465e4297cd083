// Statements: loops, ladders, specialization, lets and tiles.
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "base/error.h"
#include "codegen/llvm/emitter.h"
#include "codegen/object_code.h"

namespace tenon::codegen {

using kernel::kLaneCount;
using kernel::LoopKind;

namespace {

constexpr uint64_t kStackAlignment = 64;

enum Argument { kBuffers, kDims, kScratch, kBegin, kEnd, kFault };  // of program::KernelFunction

}  // namespace

Emitter::Emitter(const kernel::Kernel& kernel, llvm::Module& module, bool has_scale)
    : KernelWriter(kernel),
      module_(module),
      has_scale_(has_scale),
      context_(module.getContext()),
      builder_(context_) {}

void Emitter::emit() {
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Type* i64 = builder_.getInt64Ty();
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(),
                                       {pointer, pointer, pointer, i64, i64, pointer}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, kEntryName, module_);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  function_->addFnAttr("no-builtins");
  function_->addFnAttr("no-jump-tables", "true");
  function_->addFnAttr("prefer-vector-width", "512");
  function_->addFnAttr("min-legal-vector-width", "512");
  builder_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function_));
  declare_buffers();
  push_scope();
  for (size_t i = 0; i < kernel_.dims.size(); ++i) {
    llvm::IRBuilder<>::InsertPointGuard guard(builder_);
    builder_.SetInsertPoint(scopes_[0].entry->getTerminator());
    Value* at = builder_.CreateConstInBoundsGEP1_64(i64, function_->getArg(kDims), i);
    bind(kernel_.dims[i], builder_.CreateLoad(i64, at, kernel_.dims[i].name()));
  }
  // Scratch sizes may depend on dims, so their addresses come after those.
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
    if (kernel_.buffers[i].storage != kernel::Storage::Scratch) continue;
    Value* offset = emit_dim(kernel_.scratch_offset(static_cast<int>(i)));
    llvm::IRBuilder<>::InsertPointGuard guard(builder_);
    builder_.SetInsertPoint(scopes_[0].entry->getTerminator());
    storage_[i].base =
        builder_.CreateInBoundsGEP(builder_.getInt8Ty(), function_->getArg(kScratch), offset);
  }
  emit_block(kernel_.body);
  // What went past the caches is there before anyone is told that the work is done.
  if (streams_) builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
  builder_.CreateRetVoid();
  pop_scope();
  promote_registers();
  merge_blocks();
}

void Emitter::declare_buffers() {
  int argument = 0;
  for (const kernel::Buffer& buffer : kernel_.buffers) {
    Storage storage;
    llvm::Type* type = memory_type(buffer.dtype);
    if (buffer.storage == kernel::Storage::Global) {
      Value* at = builder_.CreateConstInBoundsGEP1_64(
          builder_.getPtrTy(), function_->getArg(kBuffers), static_cast<uint64_t>(argument++));
      storage.base = builder_.CreateLoad(builder_.getPtrTy(), at, buffer.name);
    } else if (buffer.storage == kernel::Storage::Stack) {
      auto* array =
          llvm::ArrayType::get(type, static_cast<uint64_t>(buffer.elements.const_value()));
      auto* alloca = builder_.CreateAlloca(array, nullptr, buffer.name);
      alloca->setAlignment(llvm::Align(kStackAlignment));
      storage.base = alloca;
    } else if (buffer.storage == kernel::Storage::Register) {
      const int64_t elements = buffer.elements.const_value();
      storage.vectors = elements % kLaneCount == 0;
      llvm::Type* held =
          storage.vectors ? vector_type(scalar_type(buffer.dtype)) : scalar_type(buffer.dtype);
      for (int64_t i = 0; i < (storage.vectors ? elements / kLaneCount : elements); ++i) {
        storage.registers.push_back(builder_.CreateAlloca(held, nullptr, buffer.name));
      }
    }
    storage_.push_back(std::move(storage));
  }
}

void Emitter::promote_registers() {
  std::vector<llvm::AllocaInst*> all;
  for (const Storage& storage : storage_)
    all.insert(all.end(), storage.registers.begin(), storage.registers.end());
  llvm::DominatorTree dominators(*function_);
  llvm::PromoteMemToReg(all, dominators);
}

// Scopes left blocks that only go on to the next: what is selected and scheduled by block should be
// few and whole.
void Emitter::merge_blocks() {
  for (llvm::BasicBlock& block : llvm::make_early_inc_range(*function_))
    llvm::MergeBlockIntoPredecessor(&block);
}

void Emitter::emit_block(const kernel::Block& block) {
  const size_t depth = scopes_.size();
  for (const kernel::Stmt& stmt : block) emit_stmt(stmt);
  while (scopes_.size() > depth) pop_scope();  // opened by lets
}

// A loop that runs once or not at all is a branch.
void Emitter::emit_once(const kernel::Loop& loop) {
  Value* runs = builder_.CreateICmpSLT(builder_.getInt64(0), emit_dim(loop.extent));
  llvm::BasicBlock* body = llvm::BasicBlock::Create(context_, "", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context_, "", function_);
  builder_.CreateCondBr(runs, body, after);
  builder_.SetInsertPoint(body);
  constants_[loop.symbol.name()] = 0;
  emit_block(*loop.body);
  constants_.erase(loop.symbol.name());
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

// Tested at the bottom, with a guard above where the loop may be empty.
void Emitter::emit_counted(const kernel::Loop& loop) {
  const bool is_grid = loop.kind == LoopKind::Thread;
  if (!is_grid && known(loop.extent).bounds().hi <= 1) return emit_once(loop);
  Value* begin = builder_.getInt64(0);
  if (is_grid) begin = function_->getArg(kBegin);
  Value* end = is_grid ? function_->getArg(kEnd) : emit_dim(loop.extent);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* head = llvm::BasicBlock::Create(context_, loop.symbol.name(), function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context_, "", function_);
  if (!is_grid && known(loop.extent).bounds().lo >= 1) {
    builder_.CreateBr(head);
  } else {
    builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), head, after);
  }
  builder_.SetInsertPoint(head);
  llvm::PHINode* counter = builder_.CreatePHI(builder_.getInt64Ty(), 2, loop.symbol.name());
  counter->addIncoming(begin, before);
  push_scope();
  bind(loop.symbol, counter);
  emit_block(*loop.body);
  unbind(loop.symbol);
  pop_scope();
  Value* next = builder_.CreateNSWAdd(counter, builder_.getInt64(1));
  counter->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), head, after);
  builder_.SetInsertPoint(after);
}

void Emitter::emit_ladder(const kernel::Loop& loop) {
  Value* end = emit_dim(loop.extent);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* head = llvm::BasicBlock::Create(context_, loop.symbol.name(), function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context_, "", function_);
  builder_.CreateCondBr(builder_.CreateICmpSLT(builder_.getInt64(0), end), head, after);
  builder_.SetInsertPoint(head);
  llvm::PHINode* start = builder_.CreatePHI(builder_.getInt64Ty(), 2, loop.symbol.name());
  start->addIncoming(builder_.getInt64(0), before);
  Value* left = builder_.CreateNSWSub(end, start);
  Value* rows = builder_.getInt64(static_cast<uint64_t>(loop.steps.back()));
  for (size_t i = loop.steps.size() - 1; i-- > 0;) {
    Value* step = builder_.getInt64(static_cast<uint64_t>(loop.steps[i]));
    rows = builder_.CreateSelect(builder_.CreateICmpSGE(left, step), step, rows);
  }
  push_scope();
  bind(loop.symbol, start);
  bind(loop.rows[0], rows);
  emit_block(*loop.body);
  unbind(loop.symbol);
  unbind(loop.rows[0]);
  pop_scope();
  Value* next = builder_.CreateNSWAdd(start, rows);
  start->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), head, after);
  builder_.SetInsertPoint(after);
}

void Emitter::emit_specialize(const kernel::Specialize& specialize) {
  Value* value = emit_dim(specialize.symbol);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context_, "", function_);
  llvm::BasicBlock* last = llvm::BasicBlock::Create(context_, "", function_);
  auto* choice =
      builder_.CreateSwitch(value, last, static_cast<unsigned>(specialize.values.size()));
  for (size_t i = 0; i < specialize.values.size(); ++i) {
    const bool is_last = i + 1 == specialize.values.size();
    llvm::BasicBlock* block = is_last ? last : llvm::BasicBlock::Create(context_, "", function_);
    if (!is_last)
      choice->addCase(builder_.getInt64(static_cast<uint64_t>(specialize.values[i])), block);
    builder_.SetInsertPoint(block);
    constants_[specialize.symbol.name()] = specialize.values[i];
    push_scope();
    emit_block(*specialize.body);
    pop_scope();
    builder_.CreateBr(after);
  }
  constants_.erase(specialize.symbol.name());
  builder_.SetInsertPoint(after);
}

void Emitter::emit_let(const kernel::Let& let) {
  Value* value = emit_expr(let.value);
  TENON_CHECK(!value->getType()->isVectorTy() || lane_, "kernel {}: lane-varying let",
              kernel_.name);
  value = emit_cast(value, let.value->dtype, DType::I64);
  if (Value* holds = emit_guards(let.guards)) {  // what is masked off is 0, and never a fault
    unify(value, holds);
    value = builder_.CreateSelect(holds, value, llvm::Constant::getNullValue(value->getType()));
  }
  if (let.is_checked()) value = emit_checked(let, value);
  if (value->getType()->isVectorTy()) {
    lane_symbols_[let.symbol.name()] = value;
  } else {
    push_scope();
    bind(let.symbol, value);
  }
}

// Wraps a negative index; where it is outside the axis a fault is reported and it becomes 0.
Emitter::Value* Emitter::emit_checked(const kernel::Let& let, Value* value) {
  Value* extent = emit_dim(let.extent);
  Value* zero = builder_.getInt64(0);
  Value* holds = emit_guards(let.guards);
  if (holds && holds->getType()->isVectorTy()) value = splat(value);
  if (value->getType()->isVectorTy()) extent = splat(extent), zero = splat(zero);
  Value* wrapped = builder_.CreateSelect(builder_.CreateICmpSLT(value, zero),
                                         builder_.CreateAdd(value, extent), value);
  Value* good = builder_.CreateICmpULT(wrapped, extent);
  Value* safe = builder_.CreateSelect(good, wrapped, zero);
  if (holds) {
    Value* off = builder_.CreateNot(holds);
    unify(good, off);
    good = builder_.CreateOr(good, off);
  }
  Value* all_good = good->getType()->isVectorTy() ? builder_.CreateAndReduce(good) : good;
  llvm::BasicBlock* fault = llvm::BasicBlock::Create(context_, "fault", function_);
  llvm::BasicBlock* next = llvm::BasicBlock::Create(context_, "", function_);
  builder_.CreateCondBr(all_good, next, fault);
  builder_.SetInsertPoint(fault);
  Value* lane = nullptr;  // the first bad one
  if (good->getType()->isVectorTy()) {
    Value* bits = builder_.CreateBitCast(builder_.CreateNot(good), builder_.getIntNTy(kLaneCount));
    lane = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, builder_.getTrue());
  }
  auto report = [&](uint64_t word, Value* what) {
    if (what->getType()->isVectorTy()) what = builder_.CreateExtractElement(what, lane);
    llvm::Type* i64 = builder_.getInt64Ty();
    Value* at = builder_.CreateConstInBoundsGEP1_64(i64, function_->getArg(kFault), word);
    builder_.CreateStore(what, at);
  };
  report(1, value), report(2, extent);
  report(0, builder_.getInt64(static_cast<uint64_t>(kernel_.argument_of(let.buffer)) + 1));
  builder_.CreateBr(next);
  builder_.SetInsertPoint(next);
  return safe;
}

void Emitter::emit_multiply_add(const kernel::Mma& mma, size_t at, Value* const& a,
                                Value* const& b) {
  llvm::AllocaInst* sum = storage_[static_cast<size_t>(mma.acc)].registers[at];
  Value* old = builder_.CreateLoad(sum->getAllocatedType(), sum);
  builder_.CreateStore(emit_step(mma.step(), a, b, old), sum);
}

}  // namespace tenon::codegen
