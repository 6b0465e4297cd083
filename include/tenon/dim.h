// Dim: an integer expression over named symbols, kept canonical. Shapes, loop bounds, index maps,
// buffer sizes and arena offsets are all Dims: one integer algebra for the whole compiler.
//
// Canonical form: a sum of terms, each an integer coefficient times a sorted product of atoms; an
// atom is a symbol, a floor division, a minimum or a maximum of canonical Dims. ceildiv(a, b) is
// floordiv(a + b - 1, b) for b > 0 and mod(a, b) is a - b * floordiv(a, b), so `(i / 4) * 4 + i %
// 4` is `i` by construction. Equal canonical forms are equal Dims.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

class Dim;

// Inclusive bounds; kDimInf stands for "no bound known" on either side.
inline constexpr int64_t kDimInf = std::numeric_limits<int64_t>::max();
struct Bounds {
  int64_t lo = -kDimInf;
  int64_t hi = kDimInf;
  bool contains(int64_t v) const { return lo <= v && v <= hi; }
  bool operator==(const Bounds&) const = default;
};

// A named unknown. Two symbols are the same if their names are. A loop's range symbol runs over 0
// .. extent - 1, and then carries the extent, so that proofs may use the symbolic bound (s < seq)
// beside the numeric one.
class Symbol {
 public:
  explicit Symbol(std::string name, Bounds bounds = {1, (int64_t{1} << 31) - 1});
  static Symbol range(std::string name, const Dim& extent);  // 0 .. extent - 1

  const std::string& name() const;
  Bounds bounds() const;
  const Dim* extent() const;  // of a range symbol, else null
  bool operator==(const Symbol& other) const;
  bool operator<(const Symbol& other) const;  // by name

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
};

namespace sym {
Symbol batch();
Symbol seq();
Symbol past();  // may be 0
}  // namespace sym

enum class AtomKind : uint8_t { Symbol, FloorDiv, Min, Max };

// Looks up a symbol's value; nullopt where it has none.
using SymbolValues = std::function<std::optional<int64_t>(const Symbol&)>;
using SymbolMap = std::function<std::optional<Dim>(const Symbol&)>;

class Dim {
 public:
  struct Atom;
  struct Term;

  Dim() : Dim(int64_t{0}) {}
  Dim(int64_t value);                      // NOLINT(google-explicit-constructor)
  Dim(int value) : Dim(int64_t{value}) {}  // NOLINT(google-explicit-constructor)
  Dim(const Symbol& symbol);               // NOLINT(google-explicit-constructor)

  std::span<const Term> terms()
      const;  // canonical order; the constant, if any, is the term without atoms, last
  bool is_const() const;
  int64_t const_value() const;  // is_const() must hold
  bool is_const(int64_t value) const { return is_const() && const_value() == value; }
  int64_t constant_term() const;
  std::optional<Symbol> as_symbol() const;  // the Dim is exactly this symbol

  Bounds bounds() const;  // sound, not always tight
  std::vector<Symbol> symbols()
      const;  // all that occur, sorted by name, without repeats (extents of ranges excluded)
  bool uses(const Symbol& symbol) const;
  // The coefficient of `symbol` where the Dim is linear in it with a symbol-free-of-`symbol`
  // coefficient; nullopt when `symbol` occurs non-linearly or inside a division, minimum or
  // maximum. 0 if it does not occur.
  std::optional<Dim> coefficient(const Symbol& symbol) const;

  // Re-canonicalizes. The extents that range symbols carry are left alone: map the range symbol too
  // where it matters.
  Dim substitute(const SymbolMap& map) const;
  Dim substitute(const Symbol& symbol, const Dim& value) const;
  std::optional<int64_t> evaluate(
      const SymbolValues& values) const;  // nullopt: unknown symbol, overflow, division by 0

  std::string to_string() const;
  // Reads what to_string writes. `symbol` supplies the symbol for a name. Throws User on malformed
  // text.
  static Dim parse(std::string_view text, const std::function<Symbol(std::string_view)>& symbol);

  size_t hash() const;
  bool operator==(const Dim& other) const;
  bool operator<(const Dim& other) const;  // an arbitrary but fixed order

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim floordiv(
      const Dim& a,
      const Dim& b);  // rounds toward minus infinity; division by constant 0 is User error
  friend Dim min(const Dim& a, const Dim& b);
  friend Dim max(const Dim& a, const Dim& b);

 private:
  struct Node;
  friend struct DimBuild;  // types/dim_node.h: how the files of this folder build canonical Dims
  explicit Dim(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

struct Dim::Atom {
  AtomKind kind;
  std::optional<Symbol> symbol;  // AtomKind::Symbol
  std::vector<Dim> args;  // FloorDiv: numerator, denominator; Min and Max: two or more, sorted
  Bounds bounds;
  size_t hash;
};

struct Dim::Term {
  int64_t coefficient;
  std::vector<std::shared_ptr<const Atom>> atoms;  // sorted; an atom repeated is a power
};

Dim operator+(const Dim& a, const Dim& b);
Dim operator-(const Dim& a, const Dim& b);
Dim operator*(const Dim& a, const Dim& b);
Dim floordiv(const Dim& a, const Dim& b);
Dim min(const Dim& a, const Dim& b);
Dim max(const Dim& a, const Dim& b);
Dim ceildiv(const Dim& a, const Dim& b);
Dim mod(const Dim& a, const Dim& b);  // same sign as b
Dim round_up(const Dim& a, int64_t multiple);

// Yes and No hold for every value of the symbols within their bounds; everything else is Unknown.
enum class Proof { Yes, No, Unknown };
Proof prove_equal(const Dim& a, const Dim& b);
Proof prove_le(const Dim& a, const Dim& b);
inline Proof prove_lt(const Dim& a, const Dim& b) { return prove_le(a + 1, b); }

// A fact the compiler had to assume about extents, checked when symbols get their values.
struct Constraint {
  enum class Kind : uint8_t {
    Equal,
    AtMost,
    Broadcastable
  } kind;  // left == right, left <= right, or equal unless one is 1
  Dim left, right;
  std::string why;  // the op that needed it, with shapes
  std::string to_string() const;
};

}  // namespace tenon

template <>
struct std::hash<tenon::Dim> {
  size_t operator()(const tenon::Dim& dim) const noexcept { return dim.hash(); }
};
