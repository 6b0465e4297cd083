#include <algorithm>

#include "program/program.h"

namespace tenon::program {

Stages::Stages(const Program& program) : count_(static_cast<int>(program.host_steps.size()) + 1) {
  for (size_t i = 0; i < program.host_steps.size(); ++i) {
    for (const Symbol& symbol : program.host_steps[i].symbols) {
      of_symbol_.emplace(symbol.name(), static_cast<int>(i) + 1);
    }
  }
}

int Stages::of(const Dim& dim) const {
  int stage = 0;
  if (of_symbol_.empty()) return stage;
  for (const Symbol& symbol : dim.symbols()) {
    const auto found = of_symbol_.find(symbol.name());
    if (found != of_symbol_.end()) stage = std::max(stage, found->second);
  }
  return stage;
}

}  // namespace tenon::program
