// Threads that share a row: a warp or a block for each iteration of the outer loops. Loops inside
// are divided among its threads, element by element; reductions are combined across them; scalars
// of a row are computed by every thread for itself. Rows that are kept between loops lie in
// registers where each thread finds its own elements again, else in shared memory, or in the
// block's scratch memory.
#include <algorithm>
#include <map>
#include <set>

#include "schedule/gpu/scheduler.h"
#include "schedule/gpu/shared_loops.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

constexpr int64_t kRowsOfWarps = 4;        // that share a block
constexpr int64_t kWideRow = 1024;         // from here on, a row has a block of its own
constexpr int64_t kRegisterElements = 32;  // of a row, in each thread

}  // namespace

// Makes the phases of one row.
class RowPhases {
 public:
  RowPhases(GpuScheduler& scheduler, const Nest& nest);
  Block run();

 private:
  struct Local {
    bool is_row = false;
    bool own = true;     // each thread finds its own elements again
    Dim row_offset = 0;  // where the row of a thread's group begins
    bool in_registers = false;
  };

  void choose_threads();
  bool rows_differ() const;
  void choose_lanes();
  void place_locals();
  bool finds_own(int buffer) const;
  Block phases(const Block& body);
  Block phase(Block inside);
  void add_phase(Block& to, Block inside);
  Block divided(const Dim& extent,
                const std::function<Block(const Dim& element, const Dim& slot)>& make);
  Block of_loop(const Loop& loop);
  ExprRef combined(const Expr& reduction, Block& before);
  Block placed(const Block& block, const Dim& element, const Dim& slot);
  Store guarded(Store store, bool by_one) const;
  void find_met();
  bool stores_shared(const Block& block) const;
  // One of the lowered kernel's: accumulators that came later are none.
  bool is_row(int buffer) const {
    const auto at = static_cast<size_t>(buffer);
    return at < locals_.size() && locals_[at].is_row;
  }
  int64_t lanes_of(const Dim& extent) const {
    return mod(extent, lanes_ * group_).is_const(0) ? lanes_ : 1;
  }

  GpuScheduler& s_;
  const Nest& nest_;
  std::vector<SharedLoop> shared_;
  int64_t threads_ = 0, group_ = 0, lanes_ = 1;
  std::optional<Symbol> t_, b_;
  Dim lane_, row_, items_;
  std::vector<Guard> live_;  // of stores, where a block has rows that do not exist
  std::vector<Local> locals_;
  std::set<int> met_;  // results that threads meet at
  Block lets_;         // that hold from here on
};

RowPhases::RowPhases(GpuScheduler& scheduler, const Nest& nest)
    : s_(scheduler), nest_(nest), shared_(shared_loops(nest.body)), items_(iterations(nest.loops)) {
  choose_threads();
  choose_lanes();
  place_locals();
  find_met();
}

// Whether rows run a serial loop more or less often: then each has a block of its own, whose
// threads meet at the same barriers.
bool RowPhases::rows_differ() const {
  bool differ = false;
  for_each(nest_.body, [&](const Stmt& stmt) {
    const auto* l = stmt.as<Loop>();
    if (!l || l->kind == LoopKind::Parallel) return;
    differ = differ || std::ranges::any_of(nest_.loops, [&](const Loop& row) {
               return l->extent.uses(row.symbol);
             });
  });
  return differ;
}

void RowPhases::choose_threads() {
  int64_t widest = 0;
  for (const SharedLoop& s : shared_) widest = std::max(widest, guessed(s.extent));
  const bool few = items_.is_const() && items_.const_value() < s_.target_.multiprocessors * 4;
  if (rows_differ() && widest < kWideRow) {
    threads_ = group_ = widest <= kWarp ? kWarp : 2 * kWarp;
  } else if (widest < kWideRow && !(few && widest > 256)) {
    group_ = kWarp;
    threads_ = kWarp * kRowsOfWarps;
  } else {
    threads_ = group_ = widest <= 2 * kWideRow ? 128 : widest <= 8 * kWideRow ? 256 : 512;
  }
  const int64_t rows = threads_ / group_;
  t_ = s_.fresh("t", threads_);
  b_ = s_.fresh("b", ceildiv(items_, rows));
  lane_ = rows == 1 ? Dim(*t_) : mod(*t_, group_);
  row_ = *b_;
  if (rows == 1) return;
  row_ = Dim(*b_) * rows + floordiv(*t_, group_);
  if (mod(items_, rows).is_const(0)) return;
  live_ = {{row_, items_}};  // the others do the last row again, and store nothing
  row_ = min(row_, items_ - 1);
}

// Several elements at once, where every loop and every reduction of a row can.
void RowPhases::choose_lanes() {
  bool fits = true;
  const auto plain = [&](const ExprRef& value) {
    for_each(value, [&](const Expr& e) {
      for (const Guard& guard : e.guards) fits = fits && guard.index.is_const();
    });
    return fits && !contains(value, kReduce);
  };
  const std::function<void(const Block&)> visit = [&](const Block& body) {
    for (const Stmt& stmt : body) {
      if (const auto* l = stmt.as<Loop>()) {
        if (l->kind == LoopKind::Parallel) {
          fits = fits && widest_along(s_.kernel_, *l->body, l->symbol) > 0;
        } else {
          visit(*l->body);
        }
      } else if (const auto* s = stmt.as<Store>()) {
        replace_reductions(s->value, [&](const Expr& e) -> ExprRef {
          fits = fits && e.op != Op::ReduceFma && plain(e.args[0]);
          return constant(e.dtype, 0);
        });
      }
    }
  };
  visit(nest_.body);
  if (!fits) return;
  int64_t widest = 1;  // in memory: what lies in registers is moved by nobody
  for (const Buffer& b : s_.kernel_.buffers) {
    if (b.storage == Storage::Global) widest = std::max(widest, size_of(b.dtype));
  }
  lanes_ = lanes_for(widest);
}

// Whether each access to a local row is at the element that the thread itself is at.
bool RowPhases::finds_own(int buffer) const {
  bool own = true;
  const Dim& size = s_.buffer(buffer).elements;
  const std::function<void(const Block&, const Symbol*)> visit = [&](const Block& body,
                                                                     const Symbol* at) {
    const auto check = [&](const Dim& offset, const Symbol* here, const Dim& extent) {
      own = own && here && offset == Dim(*here) && extent == size;
    };
    for (const Stmt& stmt : body) {
      if (const auto* l = stmt.as<Loop>()) {
        if (l->kind == LoopKind::Parallel && !at) {
          visit(*l->body, &l->symbol);
        } else {
          visit(*l->body, at);
        }
        continue;
      }
      const auto* s = stmt.as<Store>();
      if (!s) continue;
      const Dim extent = at ? *at->extent() : Dim(0);
      if (s->buffer == buffer) check(s->offset, at, extent);
      std::set<const Expr*> inside;  // of reductions that threads share
      replace_reductions(s->value, [&](const Expr& e) -> ExprRef {
        for (const ExprRef& arg : e.args) {
          for_each(arg, [&](const Expr& part) {
            if (part.op != Op::Load || part.buffer != buffer) return;
            inside.insert(&part);
            if (at) {
              check(part.index, at, extent);
            } else {
              check(part.index, &e.range[0], e.bound);
            }
          });
        }
        return constant(e.dtype, 0);
      });
      for_each(s->value, [&](const Expr& e) {
        if (e.op == Op::Load && e.buffer == buffer && !inside.contains(&e))
          check(e.index, at, extent);
      });
    }
  };
  visit(nest_.body, nullptr);
  return own;
}

void RowPhases::place_locals() {
  locals_.resize(s_.kernel_.buffers.size());
  const int64_t rows = threads_ / group_;
  int64_t left = s_.target_.shared_bytes;
  for (size_t i = 0; i < locals_.size(); ++i) {
    Buffer& b = s_.kernel_.buffers[i];
    Local& local = locals_[i];
    if (b.storage == Storage::Global || b.storage == Storage::Register) continue;
    local.is_row = true;
    local.own = finds_own(static_cast<int>(i));
    const Dim per_thread = floordiv(b.elements, group_);
    const int64_t lanes = lanes_of(b.elements);
    if (local.own && b.elements.is_const() && mod(b.elements, group_ * lanes).is_const(0) &&
        per_thread.const_value() <= kRegisterElements) {
      local.in_registers = true;
      b.storage = Storage::Register;
      b.elements = per_thread;
      continue;
    }
    const int64_t most = b.elements.bounds().hi;
    const int64_t bytes = most < (1 << 20) ? most * rows * size_of(b.dtype) : left + 1;
    b.storage = bytes <= left ? Storage::Shared : Storage::Scratch;
    if (b.storage == Storage::Shared) left -= bytes;
    const Dim size = b.storage == Storage::Shared ? Dim(most) : b.elements;
    if (rows > 1) local.row_offset = size * floordiv(*t_, group_);
    b.elements = size * rows;
  }
}

Block RowPhases::phase(Block inside) {
  Block body = lets_;
  body.insert(body.end(), inside.begin(), inside.end());
  return {loop(LoopKind::Together, *t_, threads_, std::move(body))};
}

// Results that a row stores at one place and touches at another: not always by the same thread.
void RowPhases::find_met() {
  std::map<int, int> touched;
  std::set<int> stored;
  const auto note = [&](const ExprRef& value) {
    for_each(value, [&](const Expr& e) {
      if (e.op == Op::Load) ++touched[e.buffer];
    });
  };
  for_each(nest_.body, [&](const Stmt& stmt) {
    if (const auto* l = stmt.as<Let>()) note(l->value);
    const auto* s = stmt.as<Store>();
    if (!s) return;
    note(s->value);
    stored.insert(s->buffer);
    ++touched[s->buffer];
  });
  for (const int buffer : stored) {
    if (!s_.is_local(buffer) && touched[buffer] > 1) met_.insert(buffer);
  }
}

bool RowPhases::stores_shared(const Block& block) const {
  bool found = false;
  for_each(block, [&](const Stmt& stmt) {
    const auto* s = stmt.as<Store>();
    if (!s) return;
    found |= met_.contains(s->buffer) ||
             (is_row(s->buffer) && !locals_[static_cast<size_t>(s->buffer)].own);
  });
  return found;
}

// Around a phase that stores what other threads read, or have read.
void RowPhases::add_phase(Block& to, Block inside) {
  const bool shares = stores_shared(inside);
  const auto barrier = [&] {
    if (!to.empty() && !to.back().as<Barrier>()) to.push_back({Barrier{}});
  };
  if (shares) to.push_back({Barrier{}});
  for (Stmt& stmt : phase(std::move(inside))) to.push_back(std::move(stmt));
  if (shares) barrier();
}

// A range divided among the threads of a row: thread l has elements l, l + group, ... (or as many
// lanes at a time). `slot` counts a thread's own elements.
Block RowPhases::divided(const Dim& extent,
                         const std::function<Block(const Dim& element, const Dim& slot)>& make) {
  const int64_t lanes = lanes_of(extent);
  const Dim pieces = floordiv(extent, lanes);
  const bool even = mod(pieces, group_).is_const(0) && pieces.is_const();
  const Dim count =
      even ? floordiv(pieces, group_) : max(floordiv(pieces - lane_ + (group_ - 1), group_), 0);
  const bool unrolled = even && extent.const_value() / group_ <= kRegisterElements;
  const Symbol k = s_.fresh("k", count);
  const Dim piece = Dim(k) * group_ + lane_;
  const LoopKind kind = unrolled ? LoopKind::Unroll : LoopKind::Serial;
  if (lanes == 1) return {loop(kind, k, count, make(piece, k))};
  const Symbol l = s_.fresh("l", lanes);
  const Stmt vector = loop(LoopKind::Vector, l, lanes, make(piece * lanes + l, Dim(k) * lanes + l));
  return {loop(kind, k, count, {vector})};
}

// Accesses to local rows go where these lie.
Block RowPhases::placed(const Block& block, const Dim& element, const Dim& slot) {
  return moved(block, [&](int buffer) -> Dim {
    if (static_cast<size_t>(buffer) >= locals_.size()) return 0;
    const Local& local = locals_[static_cast<size_t>(buffer)];
    return local.in_registers ? slot - element : local.row_offset;
  });
}

Store RowPhases::guarded(Store store, bool by_one) const {
  if (s_.is_local(store.buffer) && !is_row(store.buffer)) return store;
  const bool is_result = !s_.is_local(store.buffer);
  if (is_result) store.guards.insert(store.guards.end(), live_.begin(), live_.end());
  if (by_one) store.guards.push_back({lane_, 1});
  return store;
}

// Partial results of each thread, in as many accumulators as it has lanes, then of all threads.
ExprRef RowPhases::combined(const Expr& e, Block& before) {
  const bool is_contraction = e.op == Op::ReduceFma;
  const Op join = is_contraction ? Op::Add : reduction_of(e.op).join;
  const int64_t lanes = lanes_of(e.bound);
  const auto accumulators = [&](int64_t count) {
    return s_.kernel_.add_buffer({.name = s_.fresh("acc", 1).name(),
                                  .dtype = e.dtype,
                                  .elements = count,
                                  .storage = Storage::Register});
  };
  const int acc = accumulators(lanes), all = lanes == 1 ? acc : accumulators(1);
  Block inside;
  const Symbol start = s_.fresh("l", lanes);
  inside.push_back(
      loop(LoopKind::Unroll, start, lanes, {store(acc, start, identity(join, e.dtype))}));
  Block sums = divided(e.bound, [&](const Dim& element, const Dim& slot) -> Block {
    // The lane is what the slot has beyond whole pieces.
    const Dim at = lanes == 1 ? Dim(0) : mod(slot, lanes);
    const SymbolMap here = [&](const Symbol& s) {
      return s == e.range[0] ? std::optional<Dim>(element) : std::nullopt;
    };
    Block body;
    const ExprRef a = s_.in_order(substitute(e.args[0], here), body);
    const ExprRef old = load(acc, e.dtype, at);
    const ExprRef next = is_contraction
                             ? fma(a, s_.in_order(substitute(e.args[1], here), body), old)
                             : pointwise(join, {old, a});
    body.push_back(store(acc, at, next));
    return placed(body, element, slot);
  });
  inside.insert(inside.end(), sums.begin(), sums.end());
  if (lanes > 1) {
    std::vector<ExprRef> parts;
    for (int64_t i = 0; i < lanes; ++i) parts.push_back(load(acc, e.dtype, i));
    for (size_t half = parts.size() / 2; half > 0; half /= 2) {
      for (size_t i = 0; i < half; ++i) parts[i] = pointwise(join, {parts[i], parts[i + half]});
    }
    inside.push_back(store(all, 0, parts[0]));
  }
  add_phase(before, std::move(inside));
  before.push_back({Combine{join, all, group_}});
  const ExprRef result = load(all, e.dtype, 0);
  const bool plain = !is_contraction || (e.args[2]->op == Op::Const && e.args[2]->value == 0);
  return plain ? result : result + e.args[2];
}

Block RowPhases::of_loop(const Loop& l) {
  return divided(l.extent, [&](const Dim& element, const Dim& slot) -> Block {
    Block body;
    const SymbolMap here = [&](const Symbol& s) {
      return s == l.symbol ? std::optional<Dim>(element) : std::nullopt;
    };
    for (const Stmt& stmt : s_.in_order(*l.body)) body.push_back(substitute(stmt, here));
    const std::function<void(Block&)> guard_all = [&](Block& block) {
      for (Stmt& stmt : block) {
        if (auto* s = std::get_if<Store>(&stmt.node)) *s = guarded(*s, false);
        if (auto* inner = std::get_if<Loop>(&stmt.node)) {
          Block copy = *inner->body;
          guard_all(copy);
          inner->body = std::make_shared<const Block>(std::move(copy));
        }
      }
    };
    body = placed(body, element, slot);
    guard_all(body);
    return body;
  });
}

Block RowPhases::phases(const Block& body) {
  Block result;
  const size_t lets = lets_.size();
  for (const Stmt& stmt : body) {
    if (stmt.as<Let>()) {
      lets_.push_back(stmt);
    } else if (const auto* l = stmt.as<Loop>()) {
      if (l->kind == LoopKind::Parallel) {
        add_phase(result, of_loop(*l));
      } else {
        Block inside = phases(*l->body);
        result.push_back(loop(LoopKind::Serial, l->symbol, l->extent, std::move(inside)));
      }
    } else if (const auto* s = stmt.as<Store>()) {
      Store copy = *s;
      copy.value = replace_reductions(s->value, [&](const Expr& e) { return combined(e, result); });
      add_phase(result, placed({Stmt{guarded(std::move(copy), true)}}, 0, 0));
    }
  }
  lets_.erase(lets_.begin() + static_cast<std::ptrdiff_t>(lets), lets_.end());
  return result;
}

Block RowPhases::run() {
  lets_ = nest_.lets;
  Block body = phases(nest_.body);
  const SymbolMap at = decoded(nest_.loops, row_);
  Block decoded_body;
  for (const Stmt& stmt : body) decoded_body.push_back(substitute(stmt, at));
  return s_.grid(ceildiv(items_, threads_ / group_), threads_, *b_, std::move(decoded_body));
}

Block GpuScheduler::schedule_rows(const Nest& nest) { return RowPhases(*this, nest).run(); }

}  // namespace tenon::schedule
