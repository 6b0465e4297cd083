// The interpreter's form of indices and expressions. Symbols become slots of one array, expressions
// become flat lists of instructions over numbered values, so that running one element walks memory
// in order and looks nothing up. Private to the interpreter.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/races.h"

namespace tenon::kernel {

// A value of f32 is in f, of f64 in d, of integers and bool in i; of the other floats, which are
// not computed with, the bits are in i.
union Value {
  float f;
  double d;
  int64_t i;
};

// What one run works on.
struct Machine {
  struct Memory {
    std::byte* data = nullptr;
    int64_t elements = 0;
    DType dtype = DType::F32;
    int64_t per_thread = 0;  // bytes from one thread's to the next one's; 0: not a thread's own
    int watched = -1;        // by `races`
  };
  const Kernel* kernel = nullptr;
  std::vector<int64_t> slots;
  std::vector<Memory> memory;

  // Of a GPU's block.
  int64_t threads = 1;
  int64_t thread = Races::kAll;  // that runs
  mutable Races races;

  Value load(int buffer, int64_t offset) const;
  void store(int buffer, int64_t offset, Value value);
  std::byte* address(const Memory& m, int64_t offset) const {
    return m.data + (thread < 0 ? 0 : thread * m.per_thread) + offset * size_of(m.dtype);
  }
  [[noreturn]] void race(int buffer, int64_t offset) const;
  void check(int buffer, int64_t offset) const {
    const Memory& m = memory[static_cast<size_t>(buffer)];
    if (offset < 0 || offset >= m.elements) outside(buffer, offset);
  }
  [[noreturn]] void outside(int buffer, int64_t offset) const;
};

class SlotTable {
 public:
  int slot(const Symbol& symbol) {
    return slots_.try_emplace(symbol, static_cast<int>(slots_.size())).first->second;
  }
  size_t size() const { return slots_.size(); }

 private:
  std::map<Symbol, int> slots_;
};

class DimCode {
 public:
  DimCode(const Dim& dim, SlotTable& slots);
  int64_t operator()(const int64_t* slots) const {
    int64_t total = constant_;
    for (const Linear& term : linear_) total += term.coefficient * slots[term.slot];
    if (!products_.empty()) total += sum_of_products(slots);
    return total;
  }

 private:
  struct Linear {
    int64_t coefficient;
    int slot;
  };
  struct Factor {
    AtomKind kind;
    int slot;                   // Symbol
    std::vector<DimCode> args;  // the others
  };
  struct Product {
    int64_t coefficient;
    std::vector<Factor> factors;
  };
  static int64_t value_of(const Factor& factor, const int64_t* slots);
  int64_t sum_of_products(const int64_t* slots) const;

  int64_t constant_ = 0;
  std::vector<Linear> linear_;
  std::vector<Product> products_;
};

class GuardCode {
 public:
  GuardCode(const std::vector<Guard>& guards, SlotTable& slots);
  bool holds(const int64_t* slots) const {
    for (const auto& [index, bound] : tests_) {
      const int64_t i = index(slots);
      if (i < 0 || i >= bound(slots)) return false;
    }
    return true;
  }

 private:
  std::vector<std::pair<DimCode, DimCode>> tests_;
};

// One op on values of one dtype; `dtype` is the operands' (for Cast, of the result), see apply.
Value apply(Op op, DType dtype, Value a, Value b, Value c);
Value convert(DType from, DType to, Value value);
Value reinterpret(DType from, DType to, Value value);
Value take_element(DType dtype, const void* element);
void put_element(DType dtype, void* element, Value value);
Value value_of(DType dtype, double number);
// The fixed tree over kLaneCount values: halves of 8, 4, 2, 1, lower lane first.
Value combine_lanes(Op op, DType dtype, Value* lanes);

class ExprCode {
 public:
  // `written`: the buffers that the kernel stores to. A reduction that reads none of them is
  // computed again only when a symbol it depends on has changed.
  ExprCode(const ExprRef& root, SlotTable& slots, const std::set<int>& written);
  Value run(const Machine& machine, int64_t* slots);
  DType dtype() const { return dtype_; }

 private:
  struct Instr;
  struct Reduction;
  struct Access {
    int buffer;
    DimCode offset;
    GuardCode guards;
  };
  friend class ExprCompiler;

  void run_all(const std::vector<Instr>& code, const Machine& machine, int64_t* slots);
  void run_access(const Instr& instr, const Machine& machine, const int64_t* slots);
  void run_reduction(Reduction& r, const Machine& machine, int64_t* slots);
  Value reduce_lanes(Reduction& r, const Machine& machine, int64_t* slots);
  Value contract(Reduction& r, const Machine& machine, int64_t* slots);

  struct Instr {
    Op op;
    DType dtype;   // of the operands
    DType result;  // of the value
    int target;    // into values_
    int args[3];   // into values_
    int detail;    // into accesses_, indices_ or reductions_; lanes: the buffer
  };
  struct Reduction {
    Op op;
    DType dtype;
    int target;
    int slot;
    DimCode extent;
    std::vector<Instr> body;
    int args[3];
    bool pure;                       // reads nothing that the kernel writes
    std::vector<int> depends;        // slots
    std::vector<int64_t> seen = {};  // their values when the result was computed; empty at first
  };

  DType dtype_;
  int result_ = 0;
  std::vector<Value> values_;
  std::vector<Instr> code_;
  std::vector<Access> accesses_;
  std::vector<std::pair<DimCode, DimCode>> indices_;  // Index: the first; InRange: both
  std::vector<Reduction> reductions_;
};

}  // namespace tenon::kernel
