// Packing: the right operand of a contraction, staged in global memory as panels of the tile's
// width.
#include "base/error.h"
#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

// Stages b in panels [outer][panel][k][column], zero past the last column, by a kernel of its own:
// packed once where b comes from parameters, per run otherwise. The layout depends on extents of b
// only, never on the rows. Rows of b are packed even where they could be read in place: strides
// that are multiples of a large power of two fight for the same few sets of the L1 cache.
Contraction Scheduler::packed(const Contraction& c, const std::vector<Loop>& outer,
                              const Symbol& row) {
  const ExprRef b = c.reduce->args[1];
  TENON_CHECK(!uses(b, row), "kernel {}: right operand depends on the row", source_.name);
  const int64_t width = target_.tile_cols;
  const Dim panels = ceildiv(c.columns, width);
  // A depth that differs from block to block is laid out at its bound; what is past it is never
  // read.
  Dim depth = c.depth;
  for (const Loop& l : outer) {
    if (depth.uses(l.symbol)) depth = depth.bounds().hi;
  }

  // The panel's own ranges are new; outer ranges are those b depends on.
  Dim position = 0, elements = 1;
  std::vector<Loop> used;
  for (const Loop& l : outer) {
    if (!uses(b, l.symbol)) continue;
    used.push_back(l);
    position = position * l.extent + l.symbol;
    elements = elements * l.extent;
  }
  elements = elements * panels * depth * width;
  const Symbol panel = fresh("p", panels), k = fresh("k", depth), column = fresh("j", width);
  auto offset = [&](const Dim& p, const Dim& at_k, const Dim& j) {
    return ((position * panels + p) * depth + at_k) * width + j;
  };

  Kernel pack;
  pack.name = source_.name + "_pack";
  std::map<int, int> renumbered;
  bool all_constant = true;
  const Dim at = Dim(panel) * width + column;
  const bool partial = !mod(c.columns, width).is_const(0);
  ExprRef value = transform(b, [&](Expr& copy) -> ExprRef {
    if (copy.op != Op::Load) return nullptr;
    auto [it, fresh_buffer] = renumbered.try_emplace(copy.buffer, 0);
    if (fresh_buffer)
      it->second = pack.add_buffer(kernel_.buffers[static_cast<size_t>(copy.buffer)]);
    all_constant = all_constant && kernel_.buffers[static_cast<size_t>(copy.buffer)].constant;
    copy.buffer = it->second;
    if (partial) copy.guards.push_back({c.column, c.columns});
    return nullptr;
  });
  value = substitute(value, [&](const Symbol& s) -> std::optional<Dim> {
    if (s == c.column) return at;
    if (s == c.k) return Dim(k);
    return std::nullopt;
  });
  if (partial && b->op != Op::Load)
    value = select(in_range(at, c.columns), value, constant(b->dtype, 0));
  const int target = pack.add_buffer({.name = "panels",
                                      .dtype = b->dtype,
                                      .elements = elements,
                                      .source = Source::Packed,
                                      .source_index = static_cast<int>(packs_.size()),
                                      .written = true,
                                      .constant = all_constant});
  Stmt body =
      loop(LoopKind::Parallel, column, width, {store(target, offset(panel, k, column), value)});
  body = loop(LoopKind::Parallel, k, depth, {body});
  body = loop(LoopKind::Parallel, panel, panels, {body});
  for (size_t i = used.size(); i-- > 0;)
    body = loop(LoopKind::Parallel, used[i].symbol, used[i].extent, {body});
  pack.body = {body};
  pack.bytes = elements * (2 * size_of(b->dtype));

  Buffer panels_buffer = pack.buffers[static_cast<size_t>(target)];
  panels_buffer.written = false;
  const int here = kernel_.add_buffer(panels_buffer);
  packs_.push_back(std::move(pack));

  Contraction result = c;
  Expr reduce = *c.reduce;
  reduce.args[1] =
      load(here, b->dtype, offset(floordiv(c.column, width), c.k, mod(c.column, width)));
  result.reduce = std::make_shared<const Expr>(std::move(reduce));
  return result;
}

}  // namespace tenon::schedule
