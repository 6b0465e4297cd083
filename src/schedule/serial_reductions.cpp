// See serial_reductions.h.
#include "schedule/serial_reductions.h"

#include <unordered_map>

namespace tenon::schedule {

using namespace kernel;

namespace {

Symbol range_of(const Expr& e) { return e.range[0]; }

// One more element into the accumulator.
ExprRef with_element(const Expr& e, const ExprRef& acc, const Dim& at, Block& before,
                     const Around& around) {
  const SymbolMap here = [&](const Symbol& s) {
    return s == range_of(e) ? std::optional<Dim>(at) : std::nullopt;
  };
  const ExprRef a = around.inner(substitute(e.args[0], here), before);
  if (!kernel::is_contraction(e.op)) return pointwise(reduction_of(e.op).join, {acc, a});
  const ExprRef b = around.inner(substitute(e.args[1], here), before);
  return pointwise(step_of(e.op), {a, b, acc});
}

}  // namespace

ExprRef serial_reduction(const Expr& e, Block& before, const Around& around) {
  auto scalar = [&](const char* stem) {
    return around.kernel.add_buffer(
        {.name = around.fresh(stem, 1).name(), .dtype = e.dtype, .storage = Storage::Register});
  };
  const int acc = scalar("acc");
  auto value = [&](int buffer) { return load(buffer, e.dtype, 0); };
  const bool is_contraction = kernel::is_contraction(e.op);
  const ExprRef init =
      is_contraction ? around.inner(e.args[2], before) : identity(reduction_of(e.op).join, e.dtype);
  if (!is_contraction && e.op != Op::ReduceAdd) {
    const Symbol k = around.fresh("k", e.bound);
    Block body;
    const ExprRef next = with_element(e, value(acc), k, body, around);
    body.push_back(store(acc, 0, next));
    before.push_back(store(acc, 0, init));
    before.push_back(loop(LoopKind::Serial, k, e.bound, std::move(body)));
    return value(acc);
  }
  const int total = scalar("total");
  const Dim chunks = ceildiv(e.bound, kContractionChunk);
  const Symbol chunk = around.fresh("kc", chunks), k = around.fresh("k", kContractionChunk);
  const ExprRef is_first = in_range(chunk, 1);
  const Dim first = Dim(chunk) * kContractionChunk;
  Block step;
  const ExprRef next = with_element(e, value(acc), first + k, step, around);
  step.push_back(store(acc, 0, next));
  before.push_back(store(total, 0, init));
  before.push_back(
      loop(LoopKind::Serial, chunk, chunks,
           {store(acc, 0, select(is_first, value(total), constant(e.dtype, 0))),
            loop(LoopKind::Serial, k, min(e.bound - first, kContractionChunk), std::move(step)),
            store(total, 0, select(is_first, value(acc), value(total) + value(acc)))}));
  return value(total);
}

ExprRef replace_reductions(const ExprRef& root,
                           const std::function<ExprRef(const Expr& reduction)>& make) {
  if (!contains(root, kReduce)) return root;
  std::unordered_map<const Expr*, ExprRef> done;
  const std::function<ExprRef(const ExprRef&)> visit = [&](const ExprRef& e) -> ExprRef {
    if (const auto it = done.find(e.get()); it != done.end()) return it->second;
    ExprRef result;
    if (has(e->op, kReduce)) {
      result = make(*e);
    } else {
      Expr copy = *e;
      for (ExprRef& arg : copy.args) arg = visit(arg);
      result = copy.args == e->args ? e : std::make_shared<const Expr>(std::move(copy));
    }
    return done[e.get()] = result;
  };
  return visit(root);
}

}  // namespace tenon::schedule
