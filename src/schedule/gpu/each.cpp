// A thread for each iteration of the outer loops, which does everything inside in order: any kernel
// has this schedule. Where the innermost loop is plain elementwise work, a thread takes several
// neighbouring elements at once.
#include <algorithm>

#include "schedule/gpu/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

constexpr int64_t kThreads = 256;
constexpr int64_t kThreadsWithMemory = 32;  // of their own, in memory
constexpr int64_t kStackElements = 64;      // that a thread may have on its stack

}  // namespace

ExprRef GpuScheduler::in_order(const ExprRef& value, Block& before) {
  return replace_reductions(value,
                            [&](const Expr& e) { return serial_reduction(e, before, around()); });
}

Block GpuScheduler::in_order(const Block& body) {
  Block result;
  for (const Stmt& stmt : body) {
    if (const auto* l = stmt.as<Loop>()) {
      result.push_back(loop(LoopKind::Serial, l->symbol, l->extent, in_order(*l->body)));
    } else if (const auto* s = stmt.as<Store>()) {
      Store copy = *s;
      copy.value = in_order(s->value, result);
      result.push_back({std::move(copy)});
    } else if (const auto* let = stmt.as<Let>()) {
      Let copy = *let;
      copy.value = in_order(let->value, result);
      result.push_back({std::move(copy)});
    }
  }
  return result;
}

Block GpuScheduler::schedule_each(const Nest& nest) {
  for (Buffer& b : kernel_.buffers) {
    const bool large = b.storage == Storage::Stack && b.elements.const_value() > kStackElements;
    if (large) b.storage = Storage::Scratch;
  }
  const bool has_memory = std::ranges::any_of(
      kernel_.buffers, [](const Buffer& b) { return b.storage == Storage::Scratch; });
  const Dim items = iterations(nest.loops);
  int64_t threads = has_memory ? kThreadsWithMemory : kThreads;
  if (items.is_const() && items.const_value() < threads)
    threads = std::max<int64_t>(32, (items.const_value() + 31) / 32 * 32);
  const Symbol t = fresh("t", threads), b = fresh("b", ceildiv(items, threads));
  const Dim item = Dim(b) * threads + t;

  // A thread's own piece of the block's memory.
  std::vector<Dim> piece;
  for (Buffer& local : kernel_.buffers) {
    const bool in_memory = local.storage == Storage::Scratch;
    piece.push_back(in_memory ? local.elements * Dim(t) : Dim(0));
    if (in_memory) local.elements = local.elements * threads;
  }

  Block body = nest.lets;
  body.insert(body.end(), nest.body.begin(), nest.body.end());
  const SymbolMap at = decoded(nest.loops, item);
  Block inside;
  for (const Stmt& stmt : in_order(body)) inside.push_back(substitute(stmt, at));
  inside = moved(inside, [&](int buffer) {
    return static_cast<size_t>(buffer) < piece.size() ? piece[static_cast<size_t>(buffer)] : Dim(0);
  });
  if (!mod(items, threads).is_const(0)) inside = {once_if(items - item, std::move(inside))};
  return grid(ceildiv(items, threads), threads, b,
              {loop(LoopKind::Together, t, threads, std::move(inside))});
}

// Elementwise: 16 bytes at a time of the widest element.
std::optional<Block> GpuScheduler::schedule_vectors(const Nest& nest) {
  if (nest.loops.empty() || !nest.lets.empty()) return std::nullopt;
  const bool has_locals = std::ranges::any_of(
      kernel_.buffers, [](const Buffer& b) { return b.storage != Storage::Global; });
  const Loop& inner = nest.loops.back();
  const int64_t widest = widest_along(kernel_, nest.body, inner.symbol);
  if (has_locals || widest == 0) return std::nullopt;
  const int64_t lanes = lanes_for(widest);
  const bool alone = nest.loops.size() == 1;
  if (!alone && !mod(inner.extent, lanes).is_const(0)) return std::nullopt;
  if (inner.extent.bounds().hi < lanes) return std::nullopt;  // not one whole piece

  std::vector<Loop> loops = nest.loops;
  loops.back().extent = floordiv(inner.extent, lanes);
  const Dim pieces = alone ? ceildiv(inner.extent, lanes) : iterations(loops);
  const Symbol t = fresh("t", kThreads), b = fresh("b", ceildiv(pieces, kThreads));
  const Symbol lane = fresh("l", lanes);
  const Dim piece = Dim(b) * kThreads + t;
  const SymbolMap outer = decoded(loops, piece);
  const auto at = [&](const Dim& offset) -> SymbolMap {
    return [&, offset](const Symbol& symbol) -> std::optional<Dim> {
      auto value = outer(symbol);
      if (value && symbol == inner.symbol) return *value * lanes + offset;
      return value;
    };
  };
  const auto body_at = [&](const Dim& offset) {
    Block body;
    for (const Stmt& stmt : nest.body) body.push_back(substitute(stmt, at(offset)));
    return body;
  };
  const Stmt vector = loop(LoopKind::Vector, lane, lanes, body_at(lane));
  Block inside;
  if (alone) {  // whole pieces, then what is left of the last one
    const Dim first = piece * lanes, left = inner.extent - first;
    inside.push_back(once_if(floordiv(left, lanes), {vector}));
    if (!mod(inner.extent, lanes).is_const(0)) {
      const Symbol r = fresh("r", lanes);
      inside.push_back(loop(LoopKind::Serial, r, mod(min(max(left, 0), lanes), lanes), body_at(r)));
    }
  } else if (mod(pieces, kThreads).is_const(0)) {
    inside.push_back(vector);
  } else {
    inside.push_back(once_if(pieces - piece, {vector}));
  }
  return grid(ceildiv(pieces, kThreads), kThreads, b,
              {loop(LoopKind::Together, t, kThreads, std::move(inside))});
}

}  // namespace tenon::schedule
