// See nest.h.
#include "schedule/nest.h"

#include <algorithm>

#include "base/error.h"
#include "schedule/prune.h"

namespace tenon::schedule {

using namespace kernel;

Nest find_nest(const Block& all) {
  Nest nest{.lets = {}, .loops = {}, .body = all};
  Block& body = nest.body;
  const auto is_let = [](const Stmt& s) { return s.as<Let>() != nullptr; };
  if (body.size() > 1 && std::ranges::all_of(body.begin(), body.end() - 1, is_let) &&
      body.back().as<Loop>()) {
    nest.lets.assign(body.begin(), body.end() - 1);
    body.erase(body.begin(), body.end() - 1);
  }
  while (body.size() == 1 && body[0].as<Loop>() && body[0].as<Loop>()->kind == LoopKind::Parallel) {
    nest.loops.push_back(*body[0].as<Loop>());
    body = Block(*nest.loops.back().body);
  }
  return nest;
}

Symbol FreshSymbols::operator()(const std::string& stem, const Dim& extent) {
  std::string fresh;
  const auto taken = [&](const Symbol& dim) { return dim.name() == fresh; };
  do fresh = name(stem + ".");
  while (std::any_of(dims_.begin(), dims_.end(), taken));
  return Symbol::range(fresh, extent);
}

SymbolMap each_by(std::vector<std::pair<Symbol, Dim>> values) {
  return [values = std::move(values)](const Symbol& symbol) -> std::optional<Dim> {
    for (const auto& [known, value] : values) {
      if (known == symbol) return value;
    }
    return std::nullopt;
  };
}

void finish(Kernel& made, const Kernel& source) {
  if (!made.grid().is_const(0)) prune_buffers(made);  // an empty kernel still names its result
  made.dims = free_symbols(made);
  for (const Symbol& dim : made.dims) {
    TENON_CHECK(std::ranges::count(source.dims, dim) > 0, "kernel {}: {} has no loop", source.name,
                dim.name());
  }
}

}  // namespace tenon::schedule
