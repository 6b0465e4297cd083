// See pipeline.h.
#include "codegen/cuda/pipeline.h"

#include <algorithm>
#include <limits>

namespace tenon::codegen::cuda {

using kernel::Stmt;

namespace {

struct Accesses {
  std::set<int> loads, stores;

  void of(const kernel::ExprRef& value) {
    kernel::for_each(value, [&](const kernel::Expr& e) {
      if (e.buffer >= 0) loads.insert(e.buffer);
    });
  }
  void of(const kernel::Block& block) {
    kernel::for_each(block, [&](const Stmt& stmt) {
      if (const auto* s = stmt.as<kernel::Store>()) stores.insert(s->buffer), of(s->value);
      if (const auto* l = stmt.as<kernel::Let>()) of(l->value);
      if (const auto* c = stmt.as<kernel::Combine>()) stores.insert(c->buffer);
      if (const auto* t = stmt.as<kernel::TileMma>()) stores.insert(t->acc), of(t->a), of(t->b);
    });
  }
};

bool meet(const std::set<int>& a, const std::set<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int x) { return b.contains(x); });
}

}  // namespace

std::optional<Pipeline> find_pipeline(const kernel::Kernel& kernel, const kernel::Loop& loop) {
  const kernel::Block& body = *loop.body;
  if (body.size() < 4 || !body[1].as<kernel::Barrier>() || !body.back().as<kernel::Barrier>())
    return std::nullopt;
  const auto* fill = body[0].as<kernel::Loop>();
  if (!fill || fill->kind != kernel::LoopKind::Together) return std::nullopt;
  Accesses filled, computed;
  filled.of(*fill->body);
  computed.of({body.begin() + 2, body.end() - 1});
  if (filled.stores.empty() || meet(filled.loads, computed.stores) ||
      meet(filled.loads, filled.stores) || meet(filled.stores, computed.stores))
    return std::nullopt;
  int depth = std::numeric_limits<int>::max();
  for (const int at : filled.stores) {
    const kernel::Buffer& buffer = kernel.buffers[static_cast<size_t>(at)];
    if (buffer.storage != kernel::Storage::Shared) return std::nullopt;
    depth = std::min(depth, buffer.depth);
  }
  if (depth < 2) return std::nullopt;
  return Pipeline{fill, std::span(body).subspan(2, body.size() - 3), filled.stores, depth};
}

}  // namespace tenon::codegen::cuda
