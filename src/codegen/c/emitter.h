// Emitter: writes one scheduled kernel as a C function. Statements, expressions, memory and indices
// are in files of their own (emit_*.cpp); this is what they share. Unlike the generator through
// LLVM it hoists nothing: the terms of an index are written outermost first, and the C compiler
// moves what does not change out of loops.
#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/isa.h"
#include "codegen/kernel_writer.h"
#include "codegen/text/literals.h"
#include "codegen/text/names.h"
#include "kernel/kernel.h"

namespace tenon::codegen::c {

// A value of the program being written, as expressions without effects: one for a scalar; for a
// value that differs by lane, vectors that together are kLaneCount lanes.
struct Value {
  DType dtype;
  bool vector = false;
  std::vector<std::string> parts;
};

class Emitter final : KernelWriter<Value, std::string> {
 public:
  Emitter(const kernel::Kernel& kernel, Isa isa);
  std::string emit();  // the whole C file

 private:
  // A symbol that is a variable of the program, and how many loops are around it.
  struct Binding {
    std::string text;
    size_t depth;
  };

  struct Storage {
    std::string base;              // global, scratch, stack: a pointer or array
    std::vector<Value> registers;  // one per vector or per element
    bool vectors = false;          // registers hold kLaneCount elements each
  };

  // The rows of a transposed register buffer, good in the block that made them until it is stored
  // to.
  struct Transposed {
    int block = -1;
    std::vector<Value> columns;
  };

  // What must hold for an access: a condition of all lanes, or bits of lanes (a u32 that includes
  // the condition) where it differs by lane; none: always.
  struct Guarded {
    std::optional<std::string> condition;
    std::optional<std::string> bits;
  };

  // emit_stmt.cpp
  void emit_block(const kernel::Block& block) override;
  void emit_counted(const kernel::Loop& loop) override;
  void emit_ladder(const kernel::Loop& loop) override;
  void emit_let(const kernel::Let& let) override;
  void emit_specialize(const kernel::Specialize& specialize) override;
  void emit_multiply_add(const kernel::Mma& mma, size_t at, const Value& a,
                         const Value& b) override;

  // emit_buffers.cpp
  void declare_buffers();
  void declare_registers(const kernel::Buffer& buffer, Storage& storage);

  // emit_memory.cpp
  void emit_store(const kernel::Store& store) override;
  void emit_prefetch(const kernel::Prefetch& prefetch) override;
  void store_vector(const kernel::Store& store, const Value& value, const Guarded& guard);
  void store_lanes(const kernel::Store& store, const Value& value, const Guarded& guard);
  Value emit_load(const kernel::Expr& expr);
  Value load_scalar(const kernel::Expr& expr, const Dim& offset);
  Value load_vector(const kernel::Expr& expr, const Dim& offset);
  Value load_lanes(const kernel::Expr& expr, const Dim& offset);
  Value from_memory(DType dtype, const Value& value);                     // a bool's byte to a bool
  Value to_memory(const Value& value);                                    // and back
  std::string pointer_to(int buffer, const Dim& offset);                  // a variable
  std::vector<std::string> lane_elements(int buffer, const Dim& offset);  // one per lane

  // emit_guard.cpp
  Guarded emit_guards(const std::vector<kernel::Guard>& guards);
  std::string in_range(const Dim& index, const Dim& bound);
  std::string lane_bits(const Dim& index, const Dim& bound);
  Value emit_in_range(const kernel::Expr& expr);

  // emit_expr.cpp
  Value emit_expr(const kernel::ExprRef& expr) override;
  Value in_all_lanes(const kernel::ExprRef& expr) override { return splat(emit_expr(expr)); }
  Value emit_index(const kernel::Expr& expr);
  Value emit_pointwise(const kernel::Expr& expr);
  Value emit_cast(const Value& x, DType to);
  Value emit_bit_cast(const Value& x, DType to);

  // emit_lanes.cpp
  Value emit_lanes(const kernel::Expr& expr);
  Value emit_register_column(int buffer, const Dim& offset);
  Value splat(const Value& x);
  Value list_of_lanes(DType dtype, const std::vector<std::string>& lanes);
  std::string element(const Value& x, int64_t lane) const;

  // emit_index.cpp
  std::string dim(const Dim& dim);  // an i64 expression, ready to be an operand
  std::string dim_at(const Dim& dim, int64_t lane);
  std::string varying_at(const Dim& dim, int64_t lane);  // only the terms that differ by lane
  enum class Terms { All, Varying, Same };
  std::string sum(const Dim& dim, Terms which);
  bool varies(const Dim::Term& term) const;
  std::string term_text(const Dim::Term& term);
  std::string atom_text(const Dim::Atom& atom);
  size_t depth_of(const Dim::Term& term) const;
  Value& register_at(int buffer, const Dim& offset);
  void bind(const Symbol& symbol, std::string text);
  void unbind(const Symbol& symbol) { bindings_.erase(symbol.name()); }

  // Text.
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_.append(indent_ * 2, ' ');
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  void open_block() { ++indent_, open_.push_back(++blocks_); }
  void close_block() {
    --indent_, open_.pop_back();
    line("}}");
  }
  std::string fresh(const char* stem) { return fmt::format("{}{}", stem, ++temporaries_); }
  // Variables with a part each of a value of this type; `text` has an expression per part.
  Value variable(DType dtype, bool vector, const std::vector<std::string>& text);
  int64_t part_count() const { return kernel::kLaneCount / lanes_; }

  int64_t lanes_;  // of a vector: a divisor of kLaneCount
  Names names_;
  std::string out_;
  size_t indent_ = 0;
  int blocks_ = 0, temporaries_ = 0;
  std::vector<int> open_;  // the blocks around, by number
  std::vector<Storage> storage_;
  std::map<int, Transposed> transposed_;  // by buffer
  std::map<std::string, Binding> bindings_;
  int64_t at_lane_ = 0;  // which element of a let's array is meant
};

std::string vector_type(DType dtype);  // beside scalar_type

// Lanes of a vector: as many as a register has of the widest type that differs by lane.
int64_t lanes_of_vectors(const kernel::Kernel& kernel, Isa isa);

}  // namespace tenon::codegen::c
