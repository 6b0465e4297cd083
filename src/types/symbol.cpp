// Symbols: a name, its bounds and, for a loop's range symbol, the symbolic extent that proofs may
// use. The data is shared and immutable, so a Symbol is as cheap to copy as a pointer.
#include "base/error.h"
#include "tenon/dim.h"

namespace tenon {

struct Symbol::Data {
  std::string name;
  Bounds bounds;
  std::unique_ptr<const Dim> extent;
};

Symbol::Symbol(std::string name, Bounds bounds) {
  if (name.empty()) throw user_error("[symbol] a symbol needs a name");
  if (bounds.lo > bounds.hi) {
    throw user_error("[symbol] {}: lower bound {} is above upper bound {}", name, bounds.lo,
                     bounds.hi);
  }
  data_ = std::make_shared<Data>(Data{std::move(name), bounds, nullptr});
}

Symbol Symbol::range(std::string name, const Dim& extent) {
  int64_t hi = extent.bounds().hi;
  if (hi != kDimInf) hi = std::max<int64_t>(hi - 1, 0);  // an empty range has no value to bound
  Symbol symbol(std::move(name), Bounds{0, hi});
  symbol.data_ = std::make_shared<Data>(
      Data{symbol.name(), symbol.bounds(), std::make_unique<const Dim>(extent)});
  return symbol;
}

const std::string& Symbol::name() const { return data_->name; }
Bounds Symbol::bounds() const { return data_->bounds; }
const Dim* Symbol::extent() const { return data_->extent.get(); }

bool Symbol::operator==(const Symbol& other) const {
  return data_ == other.data_ || name() == other.name();
}
bool Symbol::operator<(const Symbol& other) const { return name() < other.name(); }

namespace sym {

Symbol batch() {
  static const Symbol kSymbol("batch");
  return kSymbol;
}

Symbol seq() {
  static const Symbol kSymbol("seq");
  return kSymbol;
}

Symbol past() {
  static const Symbol kSymbol("past", {0, (int64_t{1} << 31) - 1});
  return kSymbol;
}

}  // namespace sym
}  // namespace tenon
