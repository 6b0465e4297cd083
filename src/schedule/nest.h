// What schedulers of every kind of machine do alike: take a lowered kernel apart into the loops
// around its statements, name new symbols, and close the kernel that they made.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernel/kernel.h"

namespace tenon::schedule {

// Parallel loops around a body, after what is looked up once.
struct Nest {
  kernel::Block lets;
  std::vector<kernel::Loop> loops;  // outermost first
  kernel::Block body;
};
Nest find_nest(const kernel::Block& body);

// Range symbols with names of their own, none of which is one of `dims`.
class FreshSymbols {
 public:
  explicit FreshSymbols(const std::vector<Symbol>& dims) : dims_(dims) {}
  Symbol operator()(const std::string& stem, const Dim& extent);
  std::string name(const std::string& stem) { return stem + std::to_string(names_++); }

 private:
  const std::vector<Symbol>& dims_;
  int names_ = 0;
};

// Symbols and what stands for each of them.
SymbolMap each_by(std::vector<std::pair<Symbol, Dim>> values);

// The body is made: drops buffers that it does not touch and finds its dims, all of `source`.
void finish(kernel::Kernel& made, const kernel::Kernel& source);

}  // namespace tenon::schedule
