// Packing: the right operand of a contraction, staged as panels [outer][panel][k][column] of the
// tile's width, zero past the last column. The layout depends on the operand only, never on the
// rows. Operands are packed even where they could be read in place: strides that are multiples of a
// large power of two fight for the same few sets of the L1 cache. Weights of a byte that are cast,
// shifted and scaled stay bytes in their panels: that is done, with the same rounding, as the tile
// reads them, once for all of its rows.
#include <algorithm>

#include "base/error.h"
#include "schedule/add_pack.h"
#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

// How far ahead of its copy a row is asked for: no hardware foresees rows that lie pages apart.
constexpr int64_t kRowsAhead = 32;

}  // namespace

// How the operand lies in its panels, and the loops that fill them.
struct Scheduler::Panels {
  Dim position = 0;  // which block of panels, by the outer loops that the operand depends on
  Dim count, depth, elements;
  int64_t width;
  std::vector<Loop> loops;  // outermost first: those outer loops, the panel, k, the column
  ExprRef value;            // one element, at the symbols of `loops`

  Dim offset(const Dim& panel, const Dim& k, const Dim& column) const {
    return ((position * count + panel) * depth + k) * width + column;
  }
  Dim offset_here() const {
    const size_t n = loops.size();
    return offset(loops[n - 3].symbol, loops[n - 2].symbol, loops[n - 1].symbol);
  }
};

// Loops around k and the column, with the largest strides of the source outermost: heads that lie
// side by side are read side by side, so that pages and lines are fetched once.
std::vector<Loop> Scheduler::in_source_order(const Panels& panels) {
  std::vector<Loop> loops = panels.loops;
  if (panels.value->op != Op::Load) return loops;
  auto stride = [&](const Loop& l) {
    const auto coefficient = panels.value->index.coefficient(l.symbol);
    return coefficient && coefficient->is_const() ? coefficient->const_value() : kDimInf;
  };
  std::stable_sort(loops.begin(), loops.end() - 2,
                   [&](const Loop& a, const Loop& b) { return stride(a) > stride(b); });
  return loops;
}

Scheduler::Panels Scheduler::panels_of(const Contraction& c, const std::vector<Loop>& outer) {
  const ExprRef b = c.reduce->args[1];
  Panels p;
  p.width = target_.tile_cols;
  p.count = ceildiv(c.columns, p.width);
  p.depth = c.depth;
  Dim blocks = 1;
  for (const Loop& l : outer) {
    // A depth that differs from block to block is laid out at its bound; what is past it is unread.
    if (p.depth.uses(l.symbol)) p.depth = p.depth.bounds().hi;
    if (!uses(b, l.symbol)) continue;
    p.loops.push_back(l);
    p.position = p.position * l.extent + l.symbol;
    blocks = blocks * l.extent;
  }
  p.elements = blocks * p.count * p.depth * p.width;
  const Symbol panel = fresh("p", p.count), k = fresh("k", p.depth), column = fresh("j", p.width);
  for (const auto& [symbol, extent] :
       {std::pair<Symbol, Dim>{panel, p.count}, {k, p.depth}, {column, Dim(p.width)}}) {
    p.loops.push_back({symbol, extent, LoopKind::Parallel, nullptr, {}, {}});
  }
  const Dim at = Dim(panel) * p.width + column;
  const bool partial = !mod(c.columns, p.width).is_const(0);
  p.value = transform(b, [&](Expr& copy) -> ExprRef {
    if (copy.op == Op::Load && partial) copy.guards.push_back({c.column, c.columns});
    if (copy.op == Op::Load && p.depth != c.depth) copy.guards.push_back({c.k, c.depth});
    return nullptr;
  });
  p.value = substitute(p.value, [&](const Symbol& s) -> std::optional<Dim> {
    if (s == c.column) return at;
    if (s == c.k) return Dim(k);
    return std::nullopt;
  });
  if (partial && b->op != Op::Load) {
    p.value = select(in_range(at, c.columns), p.value, constant(b->dtype, 0));
  }
  return p;
}

namespace {

Contraction with_right(const Contraction& c, ExprRef right) {
  Contraction result = c;
  Expr reduce = *c.reduce;
  reduce.args[1] = std::move(right);
  result.reduce = std::make_shared<const Expr>(std::move(reduce));
  return result;
}

}  // namespace

Contraction Scheduler::reading(const Contraction& c, const Panels& panels, int buffer) const {
  return with_right(
      c, load(buffer, c.reduce->args[1]->dtype,
              panels.offset(floordiv(c.column, panels.width), c.k, mod(c.column, panels.width))));
}

namespace {

constexpr int kMostSteps = 16;  // of arithmetic between a byte and the weight that it stands for

// What panels keep of the right operand: the one load of bytes that runs over k and the columns,
// where constants and a few steps make a weight of it; else all of it.
ExprRef kept_in_panels(const Kernel& kernel, const Contraction& c) {
  const ExprRef& b = c.reduce->args[1];
  ExprRef matrix;
  int matrices = 0, steps = 0;
  bool plain = b->op != Op::Load && is_constant(kernel, b);
  for_each(b, [&](const Expr& e) {
    if (e.op != Op::Load) {
      ++steps;
      plain = plain && (e.op == Op::Const || has(e.op, kPointwise));
      return;
    }
    const std::optional<Dim> stride = e.index.coefficient(c.k);  // none: of a block of k
    if (!stride || stride->is_const(0) || !e.index.uses(c.column)) return;
    ++matrices;
    matrix = std::make_shared<const Expr>(e);
  });
  const bool kept = plain && matrices == 1 && steps <= kMostSteps && size_of(matrix->dtype) == 1;
  return kept ? matrix : b;
}

// The right operand with `panels` in place of the load of bytes. Past the last column panels have
// zeros, and scales no memory.
ExprRef computed_from(const ExprRef& panels, const Contraction& c, const Expr& bytes,
                      int64_t width) {
  const bool partial = !mod(c.columns, width).is_const(0);
  return transform(c.reduce->args[1], [&](Expr& e) -> ExprRef {
    if (e.op != Op::Load) return nullptr;
    if (e.buffer == bytes.buffer && e.index == bytes.index) return panels;
    if (partial) e.guards.push_back({c.column, c.columns});
    return nullptr;
  });
}

}  // namespace

Contraction Scheduler::packed(const Contraction& whole, const std::vector<Loop>& outer) {
  const ExprRef kept = kept_in_panels(kernel_, whole);
  const Contraction c = with_right(whole, kept);
  const Panels panels = panels_of(c, outer);
  const int here = add_pack(kernel_, packs_,
                            {.name = "panels",
                             .value = panels.value,
                             .loops = in_source_order(panels),
                             .offset = panels.offset_here(),
                             .elements = panels.elements});
  Contraction read = reading(c, panels, here);
  if (kept == whole.reduce->args[1]) return read;
  return with_right(whole, computed_from(read.reduce->args[1], whole, *kept, panels.width));
}

// Of each load that moves with k, the lines of the panel's columns some rows later.
Block Scheduler::fetches_of_rows(const Panels& panels, const Symbol& k) const {
  Block result;
  const Symbol& column = panels.loops.back().symbol;
  for_each(panels.value, [&](const Expr& e) {
    if (e.op != Op::Load || is_local(e.buffer) || !e.index.uses(k) ||
        e.index.coefficient(column) != Dim(1))
      return;
    const auto at = [&](int64_t of) {
      return e.index.substitute(k, k + kRowsAhead).substitute(column, of);
    };
    for (Stmt& s : fetches_of_lines(e.buffer, panels.width, at)) result.push_back(std::move(s));
  });
  return result;
}

// In the worker's scratch memory, by statements that every work item begins with: what one item
// packs and reads stays in its cache. `around` are the loops between those statements and the
// contraction.
Contraction Scheduler::staged(const Contraction& c, const std::vector<Loop>& around) {
  const Panels panels = panels_of(c, around);
  const int here = kernel_.add_buffer({.name = fresh_.name("panels"),
                                       .dtype = panels.value->dtype,
                                       .elements = panels.elements * stages_,
                                       .storage = Storage::Scratch});
  std::vector<Loop> loops = in_source_order(panels);
  RowNest nest;
  nest.single_column_loop = true;
  nest.body = {loop(LoopKind::Parallel, loops.back().symbol, loops.back().extent,
                    {store(here, panels.offset_here(), panels.value)})};
  loops.pop_back();
  nest.loops = loops;
  Block fill;
  if (is_transpose(nest)) {
    const Loop& columns = *nest.body[0].as<Loop>();
    fill = transposed(nest, 0, loops.back().extent, 0, columns.extent);
    loops.pop_back();
  } else {
    fill = fetches_of_rows(panels, loops.back().symbol);
    for (Stmt& s : row_statements(nest.body)) fill.push_back(std::move(s));
  }
  for (size_t i = loops.size(); i-- > 0;) {
    fill = {loop(LoopKind::Serial, loops[i].symbol, loops[i].extent, std::move(fill))};
  }
  for (Stmt& s : fill) staging_.push_back(std::move(s));
  return reading(c, panels, here);
}

}  // namespace tenon::schedule
