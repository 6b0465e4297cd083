// Row statements as vectors. A loop over columns becomes vectors of kLaneCount with a masked tail;
// what cannot (carried locals, loops inside, extents that a let decides) runs in order.
#include <algorithm>
#include <map>

#include "base/error.h"
#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

constexpr int64_t kStreamsReadAhead = 3;
constexpr int64_t kBytesAhead = 2048;
constexpr int64_t kUnrollUpTo = 4;  // vectors of a short row are copied, longer rows loop

// The symbols that have a value of their own in each lane: the lane's, and of lets that use one.
class LaneSymbols {
 public:
  explicit LaneSymbols(const Symbol& lane) : symbols_{lane} {}
  bool moves(const Dim& dim) const {
    return std::ranges::any_of(symbols_, [&](const Symbol& s) { return dim.uses(s); });
  }
  bool moves(const ExprRef& root) const {
    return std::ranges::any_of(symbols_, [&](const Symbol& s) { return uses(root, s); });
  }
  void add(const Symbol& symbol) { symbols_.push_back(symbol); }

 private:
  std::vector<Symbol> symbols_;
};

// Adds the guard to every load that moves with the lane.
ExprRef guarded(const ExprRef& root, const LaneSymbols& lanes, const Guard& guard) {
  return transform(root, [&](Expr& copy) -> ExprRef {
    if (copy.op == Op::Load && lanes.moves(copy.index)) copy.guards.push_back(guard);
    return nullptr;
  });
}

// A block of stores and lets, masked where the guard fails.
Block masked(const Block& body, const Symbol& lane, const Guard& guard) {
  LaneSymbols lanes(lane);
  Block result;
  for (const Stmt& stmt : body) {
    if (const auto* s = stmt.as<Store>()) {
      Store copy = *s;
      copy.value = guarded(s->value, lanes, guard);
      copy.guards.push_back(guard);
      result.push_back(Stmt{std::move(copy)});
    } else {
      Let copy = *stmt.as<Let>();
      if (lanes.moves(copy.value)) lanes.add(copy.symbol);
      copy.value = guarded(copy.value, lanes, guard);
      copy.guards.push_back(guard);
      result.push_back(Stmt{std::move(copy)});
    }
  }
  return result;
}

}  // namespace

Block Scheduler::lanes(const Dim& extent, const LaneBody& body) {
  const Dim full = floordiv(extent, kLaneCount);
  Block result;
  if (!full.is_const(0)) {
    const Symbol chunk = fresh("c", full);
    const bool unroll = full.is_const() && full.const_value() <= kUnrollUpTo;
    result.push_back(loop(unroll ? LoopKind::Unroll : LoopKind::Serial, chunk, full,
                          body(Dim(chunk) * kLaneCount, false)));
  }
  const Dim tails = min(extent - full * kLaneCount, 1);
  if (!tails.is_const(0)) {
    const Symbol once = fresh("c", tails);
    result.push_back(loop(LoopKind::Serial, once, tails, body(full * kLaneCount, true)));
  }
  return result;
}

// Stores and lets without reductions, none of which keeps something in a local for itself.
bool Scheduler::is_vector_body(const Block& body, const Symbol& symbol) const {
  bool stores = false;
  for (const Stmt& stmt : body) {
    const auto* s = stmt.as<Store>();
    const auto* l = stmt.as<Let>();
    if ((!s && !l) || contains(s ? s->value : l->value, kReduce)) return false;
    if (s && is_local(s->buffer) && !s->offset.uses(symbol)) return false;
    stores = stores || s;
  }
  return stores;
}

// The columns from `element` on.
Stmt Scheduler::vector_of(const Loop& columns, const Dim& element, bool tail) {
  const Symbol lane = fresh("l", kLaneCount);
  const Dim at = element + lane;
  Block body;
  for (const Stmt& s : *columns.body) body.push_back(substitute(s, replacing(columns.symbol, at)));
  if (tail) body = masked(body, lane, {at, columns.extent});
  return loop(LoopKind::Vector, lane, kLaneCount, std::move(body));
}

// Of several arrays that are read in step a CPU asks for more lines at once than it can wait for;
// what is asked for ahead of time leaves it less to wait for.
Block Scheduler::reads_ahead(const Loop& columns, const Dim& element) const {
  std::map<int, Dim> streams;  // by buffer
  for (const Stmt& stmt : *columns.body) {
    const auto* s = stmt.as<Store>();
    if (!s || is_local(s->buffer)) continue;
    for_each(s->value, [&](const Expr& e) {
      if (e.op != Op::Load || is_local(e.buffer) || !is_known_before(e.index, *columns.body))
        return;
      const bool moves = std::ranges::all_of(s->offset.symbols(), [&](const Symbol& symbol) {
        return std::ranges::find(source_.dims, symbol) != source_.dims.end() ||
               e.index.uses(symbol);
      });
      if (moves && e.index.coefficient(columns.symbol) == Dim(1))
        streams.emplace(e.buffer, e.index);
    });
  }
  Block result;
  if (target_.plain || std::ssize(streams) < kStreamsReadAhead) return result;
  for (const auto& [buffer, index] : streams) {
    const DType dtype = kernel_.buffers[static_cast<size_t>(buffer)].dtype;
    const Dim ahead = element + kBytesAhead / size_of(dtype);
    result.push_back({Prefetch{buffer, index.substitute(columns.symbol, ahead)}});
  }
  return result;
}

// A statement of one row: a loop over columns, a carried loop, a let or a store of a scalar.
Block Scheduler::lanes_stmt(const Stmt& stmt, const Loop* written) {
  Block result;
  if (const auto* s = stmt.as<Store>()) {
    Store copy = *s;
    copy.value = without_reductions(s->value, result, {.written = written});
    result.push_back(Stmt{std::move(copy)});
    return result;
  }
  if (const auto* let = stmt.as<Let>()) {
    Let copy = *let;
    copy.value = without_reductions(let->value, result);
    result.push_back(Stmt{std::move(copy)});
    return result;
  }
  const auto* l = stmt.as<Loop>();
  TENON_CHECK(l, "kernel {}: unexpected statement in a row", source_.name);
  if (l->kind == LoopKind::Parallel && is_vector_body(*l->body, l->symbol)) {
    return lanes(l->extent, [&](const Dim& element, bool tail) -> Block {
      Block body;
      if (!tail) body = reads_ahead(*l, element);
      body.push_back(vector_of(*l, element, tail));
      return body;
    });
  }
  return {loop(LoopKind::Serial, l->symbol, l->extent, row_statements(*l->body))};
}

}  // namespace tenon::schedule
