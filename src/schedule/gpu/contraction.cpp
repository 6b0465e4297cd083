// One matrix product with its epilogue. A block has a tile of the result, in registers of its
// threads; tiles of both operands are staged in shared memory, several steps of k ahead. Operands
// of 16 bits go to the tensor cores, others are multiplied by fma, in the chunks of the numerics
// class.
#include <algorithm>

#include "base/error.h"
#include "schedule/add_pack.h"
#include "schedule/gpu/scheduler.h"
#include "schedule/gpu/stage_tile.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

constexpr int64_t kLeast = 16;  // rows, columns or depth of less are no work for tiles
constexpr int64_t kNeighbours =
    8;  // tiles of rows whose blocks follow each other: they share columns

DType widest(DType a, DType b) { return size_of(a) < size_of(b) ? b : a; }

bool is_narrow(DType dtype) { return dtype == DType::BF16 || dtype == DType::F16; }

// The 16-bit float that an f32 operand is, whatever it is computed from; null: it is none.
ExprRef narrow_value(const ExprRef& operand) {
  const bool is_one =
      operand->op == Op::Cast && operand->dtype == DType::F32 && is_narrow(operand->args[0]->dtype);
  return is_one ? operand->args[0] : nullptr;
}

}  // namespace

// A nest of loops around one store with one contraction: a loop that only the left operand follows
// has the rows, one that only the right one follows the columns.
std::optional<GpuScheduler::Contraction> GpuScheduler::find_contraction(const Nest& nest) const {
  const auto* store = nest.body.size() == 1 ? nest.body[0].as<Store>() : nullptr;
  if (!store || !nest.lets.empty() || nest.loops.empty() || is_local(store->buffer))
    return std::nullopt;
  ExprRef found;
  int count = 0;
  replace_reductions(store->value, [&](const Expr& e) {
    found = std::make_shared<const Expr>(e);
    ++count;
    return constant(e.dtype, 0);
  });
  if (count != 1 || found->op != Op::ReduceFma || found->args[2]->op != Op::Const ||
      contains(found->args[0], kReduce) || contains(found->args[1], kReduce))
    return std::nullopt;
  std::optional<size_t> row, col;
  for (size_t i = 0; i < nest.loops.size(); ++i) {
    const Symbol& symbol = nest.loops[i].symbol;
    const bool left = uses(found->args[0], symbol), right = uses(found->args[1], symbol);
    if (left && !right) row = i;
    if (right && !left) col = i;
  }
  if (!row || !col || guessed(nest.loops[*row].extent) < kLeast ||
      guessed(nest.loops[*col].extent) < kLeast || guessed(found->bound) < kLeast)
    return std::nullopt;
  Contraction c{.outer = {},
                .row = nest.loops[*row],
                .col = nest.loops[*col],
                .store = store,
                .reduce = found};
  for (size_t i = 0; i < nest.loops.size(); ++i) {
    if (i != *row && i != *col) c.outer.push_back(nest.loops[i]);
  }
  return c;
}

std::optional<DType> GpuScheduler::for_tensor_cores(const Expr& reduce) const {
  if (reduce.dtype != DType::F32) return std::nullopt;
  const ExprRef a = narrow_value(reduce.args[0]), b = narrow_value(reduce.args[1]);
  if (a && b && a->dtype == b->dtype) return a->dtype;
  return target_.precision == Precision::Tf32 ? std::optional(DType::F32) : std::nullopt;
}

namespace {

// The 16-bit float that a value is one of: it is only chosen among loads of that dtype.
std::optional<DType> chosen_among(const ExprRef& value) {
  std::optional<DType> dtype;
  bool chosen = true;
  for_each(value, [&](const Expr& e) {
    if (e.op == Op::Load) {
      chosen = chosen && (!dtype || *dtype == e.dtype);
      dtype = e.dtype;
    } else {
      chosen = chosen && (e.op == Op::Select || e.op == Op::Cast || e.op == Op::InRange ||
                          e.op == Op::And || e.op == Op::Or);
    }
  });
  return chosen && dtype && is_narrow(*dtype) ? dtype : std::nullopt;
}

}  // namespace

// Weights that are not as they lie in memory (concatenated, converted) are written down once. What
// the precision rounds is rounded here: weights before, other operands as they are staged.
ExprRef GpuScheduler::packed(const Contraction& c, int operand, const Loop& along) {
  ExprRef value = c.reduce->args[static_cast<size_t>(operand)];
  const auto narrow = chosen_among(value);
  const bool rounded =
      target_.precision == Precision::Bf16 && value->dtype == DType::F32 && !narrow;
  if (rounded) value = cast(cast(value, DType::BF16), DType::F32);
  const ExprRef stored = narrow_value(value) ? narrow_value(value) : value;
  if (stored->op == Op::Load || !is_constant(kernel_, value)) return value;
  Pack pack{.name = "packed", .value = value, .loops = {}, .offset = 0, .elements = 1};
  const auto add = [&](const Symbol& symbol, const Dim& extent) {
    pack.loops.push_back({symbol, extent, LoopKind::Parallel, nullptr, {}, {}});
    pack.offset = pack.offset * extent + symbol;
    pack.elements = pack.elements * extent;
  };
  for (const Loop& l : c.outer) {
    if (uses(value, l.symbol)) add(l.symbol, l.extent);
  }
  add(c.k(), c.depth());
  add(along.symbol, along.extent);
  if (!pack.elements.is_const()) return value;
  const auto dtype = rounded ? std::optional(DType::BF16) : narrow;
  if (dtype) pack.value = expand_math_for_gpu(cast(value, *dtype));
  const ExprRef read = load(add_pack(kernel_, packs_, pack), pack.value->dtype, pack.offset);
  return dtype ? cast(read, value->dtype) : read;
}

Block GpuScheduler::schedule_contraction(Contraction c) {
  Expr reduce = *c.reduce;
  reduce.args[0] = packed(c, 0, c.row);
  reduce.args[1] = packed(c, 1, c.col);
  c.reduce = std::make_shared<const Expr>(std::move(reduce));
  const std::optional<DType> tensor_core = for_tensor_cores(*c.reduce);
  const bool tensor = tensor_core.has_value();
  const DType staged =
      tensor ? *tensor_core : widest(c.reduce->args[0]->dtype, c.reduce->args[1]->dtype);
  const TileShape shape = choose_tile({.tensor_cores = tensor,
                                       .rows = guessed(c.row.extent),
                                       .cols = guessed(c.col.extent),
                                       .element_bytes = size_of(staged),
                                       .multiprocessors = target_.multiprocessors,
                                       .shared_bytes = target_.tile_shared_bytes});

  const Dim row_tiles = ceildiv(c.row.extent, shape.rows),
            col_tiles = ceildiv(c.col.extent, shape.cols);
  const Dim items = iterations(c.outer) * row_tiles * col_tiles;
  const Symbol b = fresh("b", items), t = fresh("t", shape.threads);
  // Blocks that run at the same time have few rows and columns between them, which a cache holds.
  const int64_t down = mod(row_tiles, kNeighbours).is_const(0) ? kNeighbours : 1;
  const Dim strip = mod(b, col_tiles * down), rest = floordiv(b, col_tiles * down);
  const Dim first_col = floordiv(strip, down) * shape.cols;
  const Dim strips = floordiv(row_tiles, down);
  const Dim first_row = (mod(rest, strips) * down + mod(strip, down)) * shape.rows;
  const SymbolMap outer = decoded(c.outer, floordiv(rest, strips));

  const Symbol e = fresh("e", shape.rows * shape.cols / shape.threads);
  const Layout layout = tensor ? tensor_layout(shape, t, e) : fma_layout(shape, t, e);
  const DType dtype = c.reduce->dtype;
  const auto registers = [&](const char* stem) {
    return kernel_.add_buffer({.name = fresh(stem, 1).name(),
                               .dtype = dtype,
                               .elements = layout.elements,
                               .storage = Storage::Register});
  };
  const auto each_element = [&](const std::function<Block(const Dim& element)>& make) {
    const Symbol each = fresh("e", layout.elements);
    return loop(LoopKind::Unroll, each, layout.elements, make(each));
  };
  const auto phase = [&](Block inside) {
    return loop(LoopKind::Together, t, shape.threads, std::move(inside));
  };

  // Long sums by fma are made of chunks.
  const bool chunked = !tensor && c.depth().bounds().hi > kContractionChunk;
  const int acc = registers("acc"), total = chunked ? registers("total") : acc;
  const ExprRef zero = constant(dtype, 0);
  Block start = {each_element([&](const Dim& at) -> Block {
    Block both = {store(acc, at, c.reduce->args[2])};
    if (chunked) both.push_back(store(total, at, zero));
    return both;
  })};

  const auto operand = [&](int index, const Loop& l, int64_t size) {
    ExprRef value = c.reduce->args[static_cast<size_t>(index)];
    if (tensor && *tensor_core != DType::F32) value = narrow_value(value);
    return TileStager::Operand{
        substitute(value, outer), l.symbol, c.k(), l.extent, c.depth(), size};
  };
  const Dim steps = ceildiv(c.depth(), shape.depth);
  const Symbol step = fresh("ks", steps), i = fresh("i", shape.rows), j = fresh("j", shape.cols),
               k = fresh("k", shape.depth);
  TileStager tiles(kernel_, fresh_, shape, tensor, t);
  auto left = tiles.stage("a", operand(0, c.row, shape.rows), first_row, step, i, k);
  auto right = tiles.stage("b", operand(1, c.col, shape.cols), first_col, step, j, k);
  Block fill = std::move(left.fill);
  fill.insert(fill.end(), right.fill.begin(), right.fill.end());
  Block body = {phase(std::move(fill)), {Barrier{}}};
  body.push_back({TileMma{tensor ? TileKind::TensorCore : TileKind::Fma, acc, t, e, shape.threads,
                          layout.elements, layout.row, layout.col, i, j, k, shape.rows, shape.cols,
                          shape.depth, left.read, right.read}});
  if (chunked) {
    const int64_t per_chunk = kContractionChunk / shape.depth;
    body.push_back(phase(
        {once_if(mod(step, per_chunk) - (per_chunk - 2), {each_element([&](const Dim& at) -> Block {
                   const ExprRef sum = load(total, dtype, at) + load(acc, dtype, at);
                   return {store(total, at, sum), store(acc, at, zero)};
                 })})}));
  }
  body.push_back({Barrier{}});

  // The epilogue, over elements that lie side by side.
  const bool dense = c.store->offset.coefficient(c.col.symbol) == Dim(1);
  const int64_t lanes = dense ? layout.lanes : 1;
  const Symbol group = fresh("g", layout.elements / lanes), l = fresh("l", lanes);
  const Dim at = Dim(group) * lanes + l;
  const auto in_tile = [&](const Dim& dim, const Dim& element) {
    return dim.substitute(e, element);
  };
  const Dim row = first_row + in_tile(layout.row, at), col = first_col + in_tile(layout.col, at);
  std::vector<Guard> guards;
  if (!mod(c.row.extent, shape.rows).is_const(0)) {
    // Elements side by side are of one row.
    guards.push_back({first_row + in_tile(layout.row, Dim(group) * lanes), c.row.extent});
  }
  if (!mod(c.col.extent, shape.cols).is_const(0)) {
    const bool together = mod(c.col.extent, lanes).is_const(0);
    guards.push_back(
        {together ? first_col + in_tile(layout.col, Dim(group) * lanes) : col, c.col.extent});
  }
  const SymbolMap here = [&](const Symbol& s) -> std::optional<Dim> {
    if (s == c.row.symbol) return row;
    if (s == c.col.symbol) return col;
    return outer(s);
  };
  const ExprRef sum =
      chunked ? load(total, dtype, at) + load(acc, dtype, at) : load(acc, dtype, at);
  ExprRef value =
      replace_reductions(c.store->value, [&](const Expr&) -> const ExprRef& { return sum; });
  value = transform(substitute(value, here), [&](Expr& copy) -> ExprRef {
    if (copy.op == Op::Load && !is_local(copy.buffer))
      copy.guards.insert(copy.guards.end(), guards.begin(), guards.end());
    return nullptr;
  });
  Store result{c.store->buffer, c.store->offset.substitute(here), value, {}};
  for (const Guard& g : c.store->guards)
    result.guards.push_back({g.index.substitute(here), g.bound.substitute(here)});
  result.guards.insert(result.guards.end(), guards.begin(), guards.end());
  Stmt finish{std::move(result)};
  finish = lanes > 1 ? loop(LoopKind::Vector, l, lanes, {finish})
                     : substitute(finish, each_by({{l, 0}}));
  return grid(items, shape.threads, b,
              {phase(std::move(start)), loop(LoopKind::Serial, step, steps, std::move(body)),
               phase({loop(LoopKind::Unroll, group, layout.elements / lanes, {finish})})});
}

}  // namespace tenon::schedule
