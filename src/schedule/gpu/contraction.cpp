// One matrix product with its epilogue. A block has a tile of the result, in registers of its
// threads; tiles of both operands are staged in shared memory, several steps of k ahead. Operands
// of 16 bits go to the tensor cores, others are multiplied by fma, in the chunks of the numerics
// class.
#include <algorithm>

#include "base/error.h"
#include "schedule/add_pack.h"
#include "schedule/gpu/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

// A tile's shape, and how it is divided among warps.
struct TileShape {
  int64_t rows, cols, depth;
  int64_t threads;
  int64_t warp_rows, warp_cols;  // of tensor cores: the grid of warps
  int stages;
};

namespace {

constexpr int64_t kLeast = 16;  // rows, columns or depth of less are no work for tiles
constexpr int64_t kNeighbours =
    8;  // tiles of rows whose blocks follow each other: they share columns

constexpr TileShape kTensorTiles[] = {{128, 128, 32, 128, 2, 2, 4}, {32, 64, 64, 128, 2, 2, 4}};
constexpr TileShape kFmaTiles[] = {{128, 128, 16, 256, 0, 0, 2}, {64, 64, 16, 256, 0, 0, 2}};

DType widest(DType a, DType b) { return size_of(a) < size_of(b) ? b : a; }

// Of the operands' tiles, whichever way they lie, with what keeps their rows apart.
int64_t staged_bytes(const TileShape& shape, int64_t element) {
  const int64_t padding = 16 / std::min<int64_t>(element, 16) * std::max(shape.rows, shape.cols);
  return shape.stages * element * ((shape.rows + shape.cols) * shape.depth + 2 * padding);
}

bool is_narrow(DType dtype) { return dtype == DType::BF16 || dtype == DType::F16; }

// The 16-bit float that an f32 operand is, whatever it is computed from; null: it is none.
ExprRef narrow_value(const ExprRef& operand) {
  const bool is_one =
      operand->op == Op::Cast && operand->dtype == DType::F32 && is_narrow(operand->args[0]->dtype);
  return is_one ? operand->args[0] : nullptr;
}

// The load that a value is, or is a cast of; null: it is computed.
const Expr* load_of(const ExprRef& value) {
  const Expr& e = value->op == Op::Cast ? *value->args[0] : *value;
  return e.op == Op::Load ? &e : nullptr;
}

bool is_zero(const ExprRef& e) { return e->op == Op::Const && e->value == 0; }

// Where element e of thread t lies in the tile.
struct Layout {
  Dim row, col;
  int64_t elements;  // of a thread
  int64_t lanes;     // of these lie side by side
};

Layout tensor_layout(const TileShape& shape, const Dim& t, const Dim& e) {
  const int64_t warp_rows = shape.rows / shape.warp_rows, warp_cols = shape.cols / shape.warp_cols;
  const int64_t across = warp_cols / 8;
  const Dim warp = floordiv(t, 32), lane = mod(t, 32), r = mod(e, 4);
  const Dim fragment_row = floordiv(e, across * 4), fragment_col = mod(floordiv(e, 4), across);
  return {.row = floordiv(warp, shape.warp_cols) * warp_rows + fragment_row * 16 +
                 floordiv(r, 2) * 8 + floordiv(lane, 4),
          .col = mod(warp, shape.warp_cols) * warp_cols + fragment_col * 8 + mod(lane, 4) * 2 +
                 mod(r, 2),
          .elements = shape.rows * shape.cols / shape.threads,
          .lanes = 2};
}

// 16 x 16 threads; four columns side by side, the next four a whole strip away.
Layout fma_layout(const TileShape& shape, const Dim& t, const Dim& e) {
  constexpr int64_t kSide = 16, kStrip = 4;
  const int64_t rows = shape.rows / kSide, cols = shape.cols / kSide;
  const Dim in_row = mod(e, cols);
  return {.row = floordiv(t, kSide) * rows + floordiv(e, cols),
          .col = mod(t, kSide) * kStrip + mod(in_row, kStrip) +
                 floordiv(in_row, kStrip) * (kSide * kStrip),
          .elements = rows * cols,
          .lanes = kStrip};
}

SymbolMap pairs(std::vector<std::pair<Symbol, Dim>> values) {
  return [values = std::move(values)](const Symbol& symbol) -> std::optional<Dim> {
    for (const auto& [known, value] : values) {
      if (known == symbol) return value;
    }
    return std::nullopt;
  };
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
  if (count != 1 || found->op != Op::ReduceFma || found->args[2]->op != Op::Const)
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
                .reduce = found,
                .tensor_core = std::nullopt};
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

namespace {

// One operand's tile: `outer` of its rows or columns, and k.
struct Operand {
  ExprRef value;
  Symbol outer, k;
  Dim extent, depth;
  int64_t size;  // of the tile, along `outer`
};

}  // namespace

// Writes the schedule of one contraction.
class ContractionTiles {
 public:
  ContractionTiles(Kernel& kernel, const TileShape& shape, bool tensor,
                   std::function<Symbol(const std::string&, const Dim&)> fresh, const Symbol& t)
      : kernel_(kernel), shape_(shape), tensor_(tensor), fresh_(std::move(fresh)), t_(t) {}

  struct Staged {
    Block fill;
    ExprRef read;  // an element of the tile, over its symbols
  };

  // `first` of the operand's rows or columns, `step` of k.
  Staged stage(const char* name, const Operand& operand, const Dim& first, const Dim& step,
               const Symbol& in_outer, const Symbol& in_k) {
    const Expr& value = *operand.value;
    const Expr* source = load_of(operand.value);  // moved as it is, or converted on the way
    const bool along_k = source && source->index.coefficient(operand.k) == Dim(1);
    const bool along_outer = source && source->index.coefficient(operand.outer) == Dim(1);
    const int64_t depth = shape_.depth, bytes = size_of(value.dtype);
    // Tensor cores read either way; fma reads neighbouring rows or columns of one k.
    const bool k_inner = tensor_ && along_k;
    const int64_t pad = std::max<int64_t>(16 / bytes, 1);
    const int64_t stride = (k_inner ? depth : operand.size) + pad;
    const int buffer =
        kernel_.add_buffer({.name = fresh_(name, 1).name(),
                            .dtype = value.dtype,
                            .elements = (k_inner ? operand.size : depth) * stride,
                            .storage = Storage::Shared,
                            .depth = shape_.stages,
                            .async = value.op == Op::Load && (k_inner || along_outer)});
    const auto place = [&](const Dim& o, const Dim& k) {
      return k_inner ? o * stride + k : k * stride + o;
    };

    int64_t lanes = along_k || along_outer ? 16 / std::max(bytes, size_of(source->dtype)) : 1;
    const int64_t elements = operand.size * depth;
    while (lanes > 1 && elements % (shape_.threads * lanes) != 0) lanes /= 2;
    const int64_t pieces = elements / (shape_.threads * lanes);
    TENON_CHECK(pieces * shape_.threads * lanes == elements, "a tile of {} elements", elements);
    const Symbol u = fresh_("u", pieces), l = fresh_("l", lanes);
    const Dim piece = Dim(u) * shape_.threads + t_;
    Dim o, k;
    if (along_k) {
      o = floordiv(piece, depth / lanes), k = mod(piece, depth / lanes) * lanes;
    } else {
      k = floordiv(piece, operand.size / lanes), o = mod(piece, operand.size / lanes) * lanes;
    }
    // What is outside of the operand is 0. Where lanes are in or out together, the first one tells.
    std::vector<Guard> guards;
    const auto guard = [&](const Dim& at, const Dim& bound, bool is_lane, int64_t tile) {
      if (mod(bound, tile).is_const(0)) return;
      const bool together = !is_lane || mod(bound, lanes).is_const(0);
      guards.push_back({together ? at : at + l, bound});
    };
    guard(first + o, operand.extent, !along_k, operand.size);
    guard(step * depth + k, operand.depth, along_k, depth);
    const Dim lane_o = along_k ? o : o + l, lane_k = along_k ? k + l : k;
    ExprRef element =
        substitute(operand.value,
                   pairs({{operand.outer, first + lane_o}, {operand.k, step * depth + lane_k}}));
    element = transform(element, [&](Expr& copy) -> ExprRef {
      if (copy.op == Op::Load) copy.guards.insert(copy.guards.end(), guards.begin(), guards.end());
      return nullptr;
    });
    if (!source) {
      for (const Guard& g : guards)
        element = select(in_range(g.index, g.bound), element, constant(element->dtype, 0));
    }
    Block body = {store(buffer, place(lane_o, lane_k), element)};
    if (lanes > 1) {
      body = {loop(LoopKind::Vector, l, lanes, std::move(body))};
    } else {
      body = {substitute(body[0], pairs({{l, 0}}))};
    }
    return {{loop(LoopKind::Unroll, u, pieces, std::move(body))},
            load(buffer, value.dtype, place(in_outer, in_k))};
  }

 private:
  Kernel& kernel_;
  const TileShape& shape_;
  bool tensor_;
  std::function<Symbol(const std::string&, const Dim&)> fresh_;
  Symbol t_;
};

Block GpuScheduler::schedule_contraction(Contraction c) {
  Expr reduce = *c.reduce;
  reduce.args[0] = packed(c, 0, c.row);
  reduce.args[1] = packed(c, 1, c.col);
  c.reduce = std::make_shared<const Expr>(std::move(reduce));
  c.tensor_core = for_tensor_cores(*c.reduce);
  const bool tensor = c.tensor_core.has_value();
  const auto& shapes = tensor ? kTensorTiles : kFmaTiles;
  const int64_t large_tiles = (guessed(c.row.extent) + shapes[0].rows - 1) / shapes[0].rows *
                              ((guessed(c.col.extent) + shapes[0].cols - 1) / shapes[0].cols);
  TileShape shape = shapes[large_tiles >= target_.multiprocessors ? 0 : 1];
  const int64_t element =
      size_of(tensor ? *c.tensor_core : widest(c.reduce->args[0]->dtype, c.reduce->args[1]->dtype));
  while (shape.stages > 2 && staged_bytes(shape, element) > target_.tile_shared_bytes)
    --shape.stages;

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
    if (tensor && *c.tensor_core != DType::F32) value = narrow_value(value);
    return Operand{substitute(value, outer), l.symbol, c.k(), l.extent, c.depth(), size};
  };
  const Dim steps = ceildiv(c.depth(), shape.depth);
  const Symbol step = fresh("ks", steps), i = fresh("i", shape.rows), j = fresh("j", shape.cols),
               k = fresh("k", shape.depth);
  ContractionTiles tiles(
      kernel_, shape, tensor, [this](const std::string& s, const Dim& d) { return fresh(s, d); },
      t);
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
  finish =
      lanes > 1 ? loop(LoopKind::Vector, l, lanes, {finish}) : substitute(finish, pairs({{l, 0}}));
  return grid(items, shape.threads, b,
              {phase(std::move(start)), loop(LoopKind::Serial, step, steps, std::move(body)),
               phase({loop(LoopKind::Unroll, group, layout.elements / lanes, {finish})})});
}

}  // namespace tenon::schedule
