// Whether threads can share the rows of a kernel, and whether that pays: loops and reductions to
// divide, serial loops that all threads of a block run alike, nothing that reads what it stored.
#include <algorithm>
#include <set>

#include "schedule/gpu/scheduler.h"
#include "schedule/gpu/shared_loops.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

constexpr int64_t kFewElements = 8;  // a row of less is better left to one thread

void find_shared(const Block& body, std::vector<SharedLoop>& found) {
  for (const Stmt& stmt : body) {
    if (const auto* l = stmt.as<Loop>()) {
      if (l->kind == LoopKind::Parallel) {
        found.push_back({l->symbol, l->extent});
      } else {
        find_shared(*l->body, found);
      }
    } else if (const auto* s = stmt.as<Store>()) {
      replace_reductions(s->value, [&](const Expr& e) -> ExprRef {
        found.push_back({e.range[0], e.bound});
        return constant(e.dtype, 0);
      });
    }
  }
}

}  // namespace

std::vector<SharedLoop> shared_loops(const Block& body) {
  std::vector<SharedLoop> found;
  find_shared(body, found);
  return found;
}

namespace {

// Every serial loop has something inside that threads share, and nothing but extents, rows and the
// loops around it decides how often it runs.
bool serial_loops_share(const Block& body, std::set<std::string> known) {
  for (const Stmt& stmt : body) {
    if (stmt.as<Specialize>() || stmt.as<Mma>()) return false;
    const auto* l = stmt.as<Loop>();
    if (!l || l->kind == LoopKind::Parallel) continue;
    const auto symbols = l->extent.symbols();
    const bool uniform =
        std::ranges::all_of(symbols, [&](const Symbol& s) { return known.contains(s.name()); });
    known.insert(l->symbol.name());
    if (shared_loops(*l->body).empty() || !uniform || !serial_loops_share(*l->body, known))
      return false;
  }
  return true;
}

bool reads_results(const Kernel& kernel) {
  bool found = false;
  const auto see = [&](const ExprRef& root) {
    for_each(root, [&](const Expr& e) {
      if (e.op == Op::Load) found |= kernel.buffers[static_cast<size_t>(e.buffer)].written;
    });
  };
  for_each(kernel.body, [&](const Stmt& stmt) {
    if (const auto* s = stmt.as<Store>()) see(s->value);
    if (const auto* l = stmt.as<Let>()) see(l->value);
  });
  return found;
}

// Lets before a phase are repeated in it: they may read what is in memory from the start.
bool has_plain_lets(const Kernel& kernel, const Block& body) {
  return std::ranges::all_of(body, [&](const Stmt& stmt) {
    const auto* let = stmt.as<Let>();
    if (!let) return true;
    bool plain = !contains(let->value, kReduce);
    for_each(let->value, [&](const Expr& e) {
      plain = plain && (e.buffer < 0 ||
                        kernel.buffers[static_cast<size_t>(e.buffer)].storage == Storage::Global);
    });
    return plain;
  });
}

}  // namespace

bool GpuScheduler::shares_rows(const Nest& nest) const {
  if (reads_results(source_)) return false;
  const std::vector<SharedLoop> shared = shared_loops(nest.body);
  int64_t widest = 0;
  for (const SharedLoop& s : shared) widest = std::max(widest, guessed(s.extent));
  if (widest < kFewElements) return false;
  std::set<std::string> known;
  for (const Symbol& dim : source_.dims) known.insert(dim.name());
  for (const Loop& l : nest.loops) known.insert(l.symbol.name());
  bool plain = true;
  for_each(nest.body, [&](const Stmt& stmt) {
    if (const auto* l = stmt.as<Loop>())
      plain = plain && (l->kind == LoopKind::Parallel || has_plain_lets(source_, *l->body));
  });
  if (!plain || !has_plain_lets(source_, nest.body) || !serial_loops_share(nest.body, known))
    return false;
  // Results side by side that are sums over far apart elements: neighbouring threads read
  // neighbours.
  const auto* only = nest.body.size() == 1 ? nest.body[0].as<Store>() : nullptr;
  if (!only || nest.loops.empty()) return true;
  const Dim outputs = iterations(nest.loops);
  if (outputs.is_const() && outputs.const_value() < target_.multiprocessors * kWarp) return true;
  bool along = true;
  for_each(only->value, [&](const Expr& e) {
    if (e.op != Op::Load) return;
    for (const SharedLoop& s : shared) {
      if (e.index.uses(s.symbol)) along = along && e.index.coefficient(s.symbol) == Dim(1);
    }
  });
  return along;
}

}  // namespace tenon::schedule
