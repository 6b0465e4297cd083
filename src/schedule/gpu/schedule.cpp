// Finds the structure of a lowered kernel and picks the kind of schedule. See schedule.h.
#include "schedule/gpu/schedule.h"

#include <algorithm>

#include "base/error.h"
#include "schedule/gpu/scheduler.h"
#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

GpuScheduler::GpuScheduler(const Kernel& source, const GpuTarget& target)
    : source_(source), target_(target), kernel_(source), fresh_(source.dims) {
  kernel_.level = Level::Gpu;
}

Block GpuScheduler::scheduled(const Nest& nest) {
  if (iterations(nest.loops).is_const(0)) return grid(0, 32, fresh("b", 1), {});
  if (const auto contraction = find_contraction(nest)) return schedule_contraction(*contraction);
  if (shares_rows(nest)) return schedule_rows(nest);
  if (auto vectors = schedule_vectors(nest)) return std::move(*vectors);
  return schedule_each(nest);
}

Scheduled GpuScheduler::run() {
  kernel_.body = scheduled(find_nest(source_.body));
  finish(kernel_, source_);
  Scheduled result{std::move(kernel_), {}};
  for (const Kernel& pack : packs_)
    result.packs.push_back(GpuScheduler(pack, target_).run().kernel);
  return result;
}

Around GpuScheduler::around() {
  return {kernel_, std::ref(fresh_),
          [this](const ExprRef& value, Block& before) { return in_order(value, before); }};
}

// A block without threads still says how many it has.
Block GpuScheduler::grid(const Dim& items, int64_t threads, const Symbol& block, Block body) {
  if (body.empty()) body.push_back(loop(LoopKind::Together, fresh("t", threads), threads, {}));
  return {loop(LoopKind::Thread, block, items, std::move(body))};
}

Stmt GpuScheduler::once_if(const Dim& positive, Block body) {
  const Dim extent = min(max(positive, 0), 1);
  return loop(LoopKind::Serial, fresh("once", 1), extent, std::move(body));
}

Dim iterations(const std::vector<Loop>& loops) {
  Dim count = 1;
  for (const Loop& l : loops) count = count * l.extent;
  return count;
}

SymbolMap decoded(const std::vector<Loop>& loops, const Dim& counter) {
  std::vector<std::pair<Symbol, Dim>> values;
  Dim rest = counter;
  for (size_t i = loops.size(); i-- > 0;) {
    const Dim& extent = loops[i].extent;
    values.emplace_back(loops[i].symbol, i == 0               ? rest
                                         : extent.is_const(1) ? Dim(0)
                                                              : mod(rest, extent));
    if (i > 0) rest = floordiv(rest, extent);
  }
  return each_by(std::move(values));
}

namespace {

Block with_moved_stores(const Block& block, const std::function<Dim(int buffer)>& by) {
  Block result = block;
  for (Stmt& stmt : result) {
    if (auto* s = std::get_if<Store>(&stmt.node)) s->offset = s->offset + by(s->buffer);
    if (auto* l = std::get_if<Loop>(&stmt.node))
      l->body = std::make_shared<const Block>(with_moved_stores(*l->body, by));
  }
  return result;
}

}  // namespace

Block moved(const Block& block, const std::function<Dim(int buffer)>& by) {
  return with_moved_stores(transform_exprs(block,
                                           [&](const ExprRef& root) {
                                             return transform(root, [&](Expr& copy) -> ExprRef {
                                               if (copy.op == Op::Load)
                                                 copy.index = copy.index + by(copy.buffer);
                                               return nullptr;
                                             });
                                           }),
                           by);
}

int64_t guessed(const Dim& extent) {
  if (extent.is_const()) return extent.const_value();
  return std::min<int64_t>(extent.bounds().hi, kGuessedExtent);
}

int64_t lanes_for(int64_t widest_bytes) {
  constexpr int64_t kAccessBytes = 16;
  return std::clamp<int64_t>(kAccessBytes / widest_bytes, 2, 16);
}

int64_t widest_along(const Kernel& kernel, const Block& stores, const Symbol& symbol) {
  int64_t widest = 0;
  bool fits = true;
  const auto see = [&](int buffer, const Dim& offset) {
    const Buffer& b = kernel.buffers[static_cast<size_t>(buffer)];
    if (offset.coefficient(symbol) == Dim(1)) widest = std::max(widest, size_of(b.dtype));
  };
  for (const Stmt& stmt : stores) {
    const auto* s = stmt.as<Store>();
    if (!s || s->offset.coefficient(symbol) != Dim(1) || contains(s->value, kReduce)) return 0;
    see(s->buffer, s->offset);
    for_each(s->value, [&](const Expr& e) {
      if (e.op == Op::Load) see(e.buffer, e.index);
      // A guard that differs by lane takes the lanes apart again.
      for (const Guard& guard : e.guards) fits = fits && !guard.index.uses(symbol);
    });
    for (const Guard& guard : s->guards) fits = fits && !guard.index.uses(symbol);
  }
  return fits ? widest : 0;
}

Scheduled schedule_for_gpu(const Kernel& lowered, const GpuTarget& target) {
  Kernel kernel = collapse_loops(lowered);
  kernel.body = transform_exprs(kernel.body, expand_math_for_gpu);
  return GpuScheduler(kernel, target).run();
}

}  // namespace tenon::schedule
