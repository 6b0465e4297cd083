// Emitter: writes one scheduled kernel as an LLVM function. Statements, expressions,
// memory and indices are in files of their own (emit_*.cpp); this is what they share.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/kernel_writer.h"
#include "kernel/kernel.h"

namespace tenon::codegen {

class Emitter final : KernelWriter<llvm::Value*, llvm::Value*> {
 public:
  // `has_scale`: the machine has one instruction for 16 lanes of Op::Scale.
  Emitter(const kernel::Kernel& kernel, llvm::Module& module, bool has_scale);
  void emit();  // the function, and promotion of register buffers to values

 private:
  using Value = llvm::Value;

  // A region of code that is entered through `entry`; what depends on no inner symbol is computed
  // once, there.
  struct Scope {
    llvm::BasicBlock* entry;  // ends with a branch; hoisted code goes before it
    std::unordered_map<Dim, Value*> dims;
    std::map<std::pair<int, Dim>, Value*> addresses;
    std::map<std::pair<Dim, Dim>, Value*> masks;  // of lanes, by first index and bound
    std::unordered_map<Dim, Value*> lanes;        // terms that differ from lane to lane
  };

  // The scalar symbol with its value, and the depth of the scope that defines it.
  struct Binding {
    Value* value;
    size_t depth;
  };

  struct Storage {
    Value* base = nullptr;                     // global, scratch, stack
    std::vector<llvm::AllocaInst*> registers;  // one per vector or per element
    bool vectors = false;                      // registers hold kLaneCount elements each
  };

  // The vectors of a transposed register buffer, good in the block that made them until the buffer
  // is stored to.
  struct Transposed {
    llvm::BasicBlock* block = nullptr;
    std::vector<Value*> columns;
  };

  // emit_stmt.cpp
  void emit_block(const kernel::Block& block) override;
  void emit_counted(const kernel::Loop& loop) override;
  void emit_once(const kernel::Loop& loop);
  void emit_ladder(const kernel::Loop& loop) override;
  void emit_let(const kernel::Let& let) override;
  void emit_specialize(const kernel::Specialize& specialize) override;
  void emit_multiply_add(const kernel::Mma& mma, size_t at, Value* const& a,
                         Value* const& b) override;
  Value* emit_checked(const kernel::Let& let, Value* value);
  void declare_buffers();
  void promote_registers();
  void merge_blocks();

  // emit_expr.cpp: a scalar where the value does not depend on the lane, a vector of kLaneCount
  // otherwise.
  Value* emit_expr(const kernel::ExprRef& expr) override;
  Value* in_all_lanes(const kernel::ExprRef& expr) override { return splat(emit_expr(expr)); }
  Value* emit_lanes(const kernel::Expr& expr);
  Value* emit_constant(DType dtype, double value);
  Value* emit_greater(Value* a, Value* b, DType dtype);  // false where one is NaN
  Value* splat(Value* x);
  void unify(Value*& a, Value*& b);  // splats the scalar one if the other is a vector

  // emit_memory.cpp
  void emit_store(const kernel::Store& store) override;
  void emit_prefetch(const kernel::Prefetch& prefetch) override;
  void emit_vector_store(Value* value, Value* at, llvm::Align align, Value* guard);
  void emit_streamed(int buffer, Value* value, Value* at, Value* guard);
  Value* emit_load(const kernel::Expr& expr);
  Value* emit_load_lanes(const kernel::Expr& expr);
  Value* emit_register_column(int buffer, const Dim& offset);
  Value* masked_lane(Value* holds);  // a mask of one lane
  Value* zeros();

  // emit_guard.cpp: i1 or lanes of i1; null: always true
  Value* emit_guards(const std::vector<kernel::Guard>& guards);
  Value* emit_guard(const Dim& index, const Dim& bound);
  Value* emit_lane_mask(const Dim& first, const Dim& bound);

  // emit_pointwise.cpp
  Value* emit_pointwise(const kernel::Expr& expr);
  Value* emit_integer_quotient(Value* a, Value* b, bool is_signed);
  Value* emit_scale(Value* x, Value* n);
  Value* emit_fma(Value* a, Value* b, Value* c);
  Value* emit_dot2(Value* a, Value* b, Value* c);
  Value* emit_dot4(Value* a, Value* b, Value* c);
  Value* emit_step(kernel::Op op, Value* a, Value* b, Value* c);  // of a contraction
  Value* emit_cast(Value* x, DType from, DType to);
  Value* emit_narrowed(Value* x, DType to);

  // emit_lanes.cpp: index expressions as vectors of i64
  Value* emit_lane_dim(const Dim& dim);
  Value* emit_lane_product(const Dim::Term& term);
  Value* at_home(const Dim& dim, const std::function<Value*()>& make);
  Value* emit_lane_atom(const Dim::Atom& atom);
  Value* emit_lane_quotient(const Dim& a, const Dim& b);
  Value* emit_lane_guard(const Dim& index, const Dim& bound);
  Value* emit_gather(const kernel::Expr& expr, Value* guard);
  Value* emit_load_pairs(const kernel::Expr& expr, Value* guard);
  size_t lane_depth(const Dim& dim) const;
  bool uses_lane_symbols(const Dim& dim) const;
  bool is_lane_step(const Dim& dim) const;  // one more from lane to lane
  Value* lane_addresses(int buffer, const Dim& offset);

  // emit_index.cpp
  Value* emit_dim(const Dim& dim);  // i64, hoisted as far out as its symbols allow
  Value* emit_hoisted(const Dim& dim, size_t depth);
  Value* emit_term(const Dim::Term& term);
  Value* emit_atom(const Dim::Atom& atom);
  Value* address(int buffer, const Dim& offset);
  size_t depth_of(const Dim& dim) const;

  llvm::AllocaInst*& register_at(int buffer, const Dim& offset);
  void push_scope();
  void pop_scope() { scopes_.pop_back(); }
  void bind(const Symbol& symbol, Value* value);
  void unbind(const Symbol& symbol) { bindings_.erase(symbol.name()); }

  llvm::Type* scalar_type(DType dtype) const;  // of values
  llvm::Type* memory_type(DType dtype) const;  // of elements in memory
  llvm::Type* vector_type(llvm::Type* element) const;

  llvm::Module& module_;
  const bool has_scale_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> builder_;
  llvm::Function* function_ = nullptr;
  std::vector<Storage> storage_;
  std::map<int, Transposed> transposed_;  // by buffer
  Value* zeros_ = nullptr;                // where a vector of them is, once one was asked for
  bool streams_ = false;                  // some store goes past the caches
  std::vector<Scope> scopes_;
  std::map<std::string, Binding> bindings_;
};

// One term of a Dim as a Dim.
Dim term_dim(const Dim::Term& term);

}  // namespace tenon::codegen
