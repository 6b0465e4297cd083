// The thread grid: outer loops, blocks of rows and groups of columns as one range of work items,
// decoded from one counter. Items are independent; which thread takes which never changes a bit.
#include <map>

#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

// The thread loop: outer loops times blocks of the innermost row loop times groups, decoded from
// one counter.
Block Scheduler::threaded(const RowNest& nest, int64_t row_block, const Dim& groups,
                          const std::function<Block(const Dim&, const Dim&, const Dim&)>& make) {
  const Loop& rows = nest.loops.back();
  const Dim blocks = ceildiv(rows.extent, row_block);
  Dim items = blocks * groups;
  for (size_t i = 0; i + 1 < nest.loops.size(); ++i) items = items * nest.loops[i].extent;
  const Symbol item = fresh("t", items);
  Dim rest = item;
  auto take = [&](const Dim& extent, bool last) {
    const Dim value = last ? rest : mod(rest, extent);
    rest = last ? Dim(0) : floordiv(rest, extent);
    return value;
  };
  const bool only_rows = nest.loops.size() == 1;
  const Dim group = groups.is_const(1) ? Dim(0) : take(groups, false);
  const Dim block = blocks.is_const(1) ? Dim(0) : take(blocks, only_rows);
  std::map<std::string, Dim> outer;
  for (size_t i = nest.loops.size() - 1; i-- > 0;)
    outer.emplace(nest.loops[i].symbol.name(), take(nest.loops[i].extent, i == 0));
  const Dim first = block * row_block;
  Block body = make(first, min(rows.extent - first, row_block), group);
  for (Stmt& s : body) {
    s = substitute(s, [&](const Symbol& symbol) -> std::optional<Dim> {
      const auto it = outer.find(symbol.name());
      return it == outer.end() ? std::nullopt : std::optional<Dim>(it->second);
    });
  }
  return {loop(LoopKind::Thread, item, items, std::move(body))};
}

}  // namespace tenon::schedule
