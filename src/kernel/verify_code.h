// What the files of the verifier share: the symbols in scope at a statement, and the checks of
// expressions and accesses that the walk over statements calls. Private to the verifier.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "kernel/kernel.h"

namespace tenon::kernel {

// What is legal at a level. Masks are of 1 << enumerator; traits are OpTraits.
struct LevelRules {
  unsigned statements;  // by position in Stmt::node
  unsigned loops;
  unsigned storages;
  unsigned forbidden_traits;
  bool has_threads;  // of a block: loops over them, and statements outside of these
};
const LevelRules& rules_of(Level level);

// A symbol bound around a statement.
struct Binding {
  enum class Kind : uint8_t { Dim, Range, LadderStart, LadderRows } kind;
  Symbol symbol;
  Dim extent;                       // Range, LadderStart
  std::vector<int64_t> steps = {};  // LadderRows
  bool constant = false;  // a number in the code that is compiled: unrolled, a lane, specialized
  bool is_data = false;   // a let
};

class Scope {
 public:
  explicit Scope(const Kernel& kernel) : kernel_(kernel) {}

  const Kernel& kernel() const { return kernel_; }
  const std::vector<Binding>& bindings() const { return bindings_; }
  const Binding* find(const Symbol& symbol) const;
  void bind(Binding binding);
  void restore(const Scope& earlier) { bindings_ = earlier.bindings_; }
  void make_constant(const Symbol& symbol);
  bool in_vector = false;
  bool in_threads = false;  // inside of a loop over the threads of a block

  const Buffer& buffer(int index) const;
  void check_bound(const Dim& dim, std::string_view where) const;  // every symbol is
  // Whether it stands in a loop that never runs, in one whose extent is data, or in one over an
  // extent that may be 0 and that the buffer's size does not depend on: a constraint may relate the
  // two.
  bool may_not_run(const Buffer& accessed) const;
  // Whether a range that may be empty, of an extent that the buffer's size knows nothing of,
  // indexes it: what keeps it inside is a constraint on the extents, which is checked before a run.
  bool relies_on_constraint(const Buffer& accessed, const Dim& offset) const;
  bool is_constant(const Dim& dim) const;  // once constant symbols have their values

  template <typename... Args>
  void check(bool condition, fmt::format_string<Args...> format, Args&&... args) const {
    if (!condition) [[unlikely]]
      fail(fmt::format(format, std::forward<Args>(args)...));
  }
  [[noreturn]] void fail(std::string_view what) const {
    throw internal_error("[verify] kernel {}: {}", kernel_.name, what);
  }

 private:
  const Kernel& kernel_;
  std::vector<Binding> bindings_;
};

// Ops, operands and dtypes of an expression, and every access in it.
void verify_expr(const Scope& scope, const ExprRef& root);
// An access at `offset`: its symbols, what its storage allows, and that it is not outside of the
// buffer as far as that can be proven.
void verify_access(const Scope& scope, int buffer, const Dim& offset,
                   const std::vector<Guard>& guards);

}  // namespace tenon::kernel
