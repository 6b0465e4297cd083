// The thread grid: outer loops, blocks of rows and groups of columns as one range of work items,
// decoded from one counter. Items are independent; which thread takes which never changes a bit.
// Neighbouring items write neighbouring memory: heads of the same rows before other rows, so that
// pages and lines are shared while they are hot.
#include <algorithm>
#include <map>

#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

// How far apart the results of neighbouring iterations lie; without bound where only a run knows.
int64_t result_stride(const RowNest& nest, const Symbol& symbol, const std::vector<Buffer>& all) {
  int64_t result = kDimInf;
  for_each(nest.body, [&](const Stmt& stmt) {
    const auto* s = stmt.as<Store>();
    if (!s || all[static_cast<size_t>(s->buffer)].storage != Storage::Global) return;
    const auto stride = s->offset.coefficient(symbol);
    if (stride && stride->is_const()) result = stride->const_value();
  });
  return result;
}

}  // namespace

Block Scheduler::threaded(const RowNest& nest, int64_t row_block, const Dim& groups,
                          const ItemBody& make) {
  struct Axis {
    Symbol symbol;
    Dim extent;
    int64_t stride;
  };
  const Loop& rows = nest.loops.back();
  std::vector<Axis> axes;  // outermost first
  for (const Loop& l : nest.loops) {
    const Dim extent = &l == &rows ? ceildiv(l.extent, row_block) : l.extent;
    axes.push_back({l.symbol, extent, result_stride(nest, l.symbol, kernel_.buffers)});
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Axis& a, const Axis& b) { return a.stride > b.stride; });
  Dim items = groups;
  for (const Axis& axis : axes) items = items * axis.extent;
  const Symbol item = fresh("t", items);
  if (items.is_const(0)) return {loop(LoopKind::Thread, item, 0, {})};

  const Dim group = mod(item, groups);
  Dim rest = floordiv(item, groups);
  std::map<std::string, Dim> position;
  for (size_t i = axes.size(); i-- > 0;) {
    const Axis& axis = axes[i];
    const bool one = axis.extent.is_const(1);
    position.emplace(axis.symbol.name(), one ? Dim(0) : i == 0 ? rest : mod(rest, axis.extent));
    rest = floordiv(rest, axis.extent);
  }
  const Dim first = position.at(rows.symbol.name()) * row_block;
  position.erase(rows.symbol.name());
  Block body = make(first, min(rows.extent - first, row_block), group);
  for (Stmt& s : body) {
    s = substitute(s, [&](const Symbol& symbol) -> std::optional<Dim> {
      const auto it = position.find(symbol.name());
      return it == position.end() ? std::nullopt : std::optional<Dim>(it->second);
    });
  }
  return {loop(LoopKind::Thread, item, items, std::move(body))};
}

}  // namespace tenon::schedule
