// Buffers that a schedule no longer touches (a weight that is read through its packed panels) are
// dropped, so that a step holds on to nothing it does not need. Results stay: one without elements
// is written by nobody.
#include "schedule/prune.h"

#include <functional>
#include <vector>

namespace tenon::schedule {

using namespace kernel;

namespace {

// Applies `visit` to every buffer number in a block, which it may change.
Block renumber(const Block& block, const std::function<int(int)>& visit) {
  Block result = transform_exprs(block, [&](const ExprRef& root) {
    return transform(root, [&](Expr& copy) -> ExprRef {
      if (copy.buffer >= 0) copy.buffer = visit(copy.buffer);
      return nullptr;
    });
  });
  for (Stmt& s : result) {
    if (auto* st = std::get_if<Store>(&s.node)) st->buffer = visit(st->buffer);
    if (auto* m = std::get_if<Mma>(&s.node)) m->acc = visit(m->acc);
    if (auto* p = std::get_if<Prefetch>(&s.node)) p->buffer = visit(p->buffer);
    if (auto* c = std::get_if<Combine>(&s.node)) c->buffer = visit(c->buffer);
    if (auto* t = std::get_if<TileMma>(&s.node)) t->acc = visit(t->acc);
    if (auto* l = std::get_if<Let>(&s.node); l && l->is_checked()) l->buffer = visit(l->buffer);
  }
  return result;
}

Block renumber_deep(const Block& block, const std::function<int(int)>& visit) {
  Block result;
  for (const Stmt& s : block) {
    if (const auto* l = s.as<Loop>()) {
      Loop copy = *l;
      copy.body = std::make_shared<const Block>(renumber_deep(*l->body, visit));
      result.push_back(Stmt{std::move(copy)});
    } else if (const auto* sp = s.as<Specialize>()) {
      result.push_back(specialize(sp->symbol, sp->values, renumber_deep(*sp->body, visit)));
    } else {
      result.push_back(renumber({s}, visit)[0]);
    }
  }
  return result;
}

}  // namespace

void prune_buffers(Kernel& kernel) {
  std::vector<int> number(kernel.buffers.size(), -1);
  renumber_deep(kernel.body, [&](int buffer) {
    number[static_cast<size_t>(buffer)] = 0;
    return buffer;
  });
  std::vector<Buffer> kept;
  for (size_t i = 0; i < number.size(); ++i) {
    const Buffer& buffer = kernel.buffers[i];
    const bool is_result = buffer.storage == Storage::Global && buffer.written;
    if (number[i] < 0 && !is_result) continue;
    number[i] = static_cast<int>(kept.size());
    kept.push_back(kernel.buffers[i]);
  }
  kernel.buffers = std::move(kept);
  kernel.body =
      renumber_deep(kernel.body, [&](int buffer) { return number[static_cast<size_t>(buffer)]; });
}

}  // namespace tenon::schedule
