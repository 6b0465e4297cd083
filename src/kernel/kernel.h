// Kernel: the loop IR. A tree of loops over statements; values are Exprs. The same data structure
// before scheduling (parallel loops, reductions as values, `lowered`) and after (threads, vectors,
// register tiles, `scheduled`): a schedule is a function from kernel to kernel, and the interpreter
// runs both. For a GPU it is scheduled another way (`gpu`): work items are blocks, whose threads
// run together.
//
//   parallel i in m                                 thread t in ceildiv(m, 96)
//     parallel j in 1536                              loop p in 48
//       y[i*1536 + j] =                                 ladder i in min(96, m - 96*t) rows r steps
//       12 8 4 1
//         max(reduce_fma(k in 384,            ==>         specialize r in 12 8 4 1
//               x[i*384 + k], w[k*1536 + j],                ... acc = 0; loop k: mma acc += x * w;
//               tile = acc b[j]), 0)                                 loop ii in r
//                                                           unroll u in 2: vector l in 16: y[...] =
//                                                           max(tile[...], 0)
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "kernel/expr.h"
#include "tenon/shape.h"

namespace tenon::kernel {

enum class Storage : uint8_t {
  Global,    // an argument
  Scratch,   // the calling worker's own memory; may have a symbolic size
  Stack,     // constant size, indexed at run time
  Register,  // constant size, indexed by constants once loops are unrolled: vectors of kLaneCount,
             // or single elements
  Shared,    // of a GPU's block: of constant size, seen by its threads
};
// On a GPU, scratch belongs to a block; stack and registers belong to a thread.

// Where a global buffer comes from.
enum class Source : uint8_t {
  Argument,  // an operand or result of the region the kernel computes
  Packed,    // made by another kernel of the same schedule (Scheduled::packs)
};

struct Buffer {
  std::string name;
  DType dtype = DType::F32;
  Dim elements = 1;
  Storage storage = Storage::Global;
  Source source = Source::Argument;
  int source_index = 0;  // which argument, or which pack
  bool written = false;  // global: by this kernel
  bool constant =
      false;           // global: filled from parameters and constants only; packing it happens once
  int depth = 1;       // staged copies in flight: 2 is double buffering
  bool async = false;  // filled by asynchronous copies
};

struct Stmt;
using Block = std::vector<Stmt>;

enum class LoopKind : uint8_t {
  Parallel,  // iterations independent, order free; before scheduling
  Serial,    // ascending
  Thread,    // work items of the grid; only as the outermost loop, once
  Ladder,    // steps of varying size: see Loop::steps
  Unroll,    // constant extent, copied
  Vector,    // kLaneCount lanes at once (on a GPU: 2 to 16, the elements that a thread moves at
             // once); only loads, pointwise ops and stores inside
  Together,  // the threads of a GPU's block, all at the same time: what one stores, another sees
             // only after a barrier. Of one constant extent throughout the kernel.
};

struct Loop {
  Symbol symbol;
  Dim extent;
  LoopKind kind;
  std::shared_ptr<const Block> body;
  // Ladder: `symbol` starts at 0 and advances by `rows`, the first of `steps` (descending, ending
  // with 1) that still fits into the extent.
  std::vector<Symbol> rows;  // one symbol
  std::vector<int64_t> steps;
};

struct Store {
  int buffer;
  Dim offset;
  ExprRef value;
  std::vector<Guard> guards;  // where one fails nothing is stored
  // A hint: nobody reads it soon. Where the buffer is larger than the caches, it goes past them.
  bool streamed = false;
};

// Names an integer found at run time (a gather index, a count) so that offsets, guards and loop
// extents can use it. Checked: negative values count from the end; outside -extent .. extent-1 is a
// fault: it is reported and 0 is used instead. Known: the value lies in 0 .. extent-1 by
// construction, and is used as it is.
struct Let {
  static constexpr int kKnown = -1;

  Symbol symbol;
  ExprRef value;
  Dim extent;
  int buffer;                 // the global one being indexed, for the report; or kKnown
  std::vector<Guard> guards;  // where one fails the value is 0 and nothing is reported

  bool is_checked() const { return buffer != kKnown; }
};

// The body, compiled once for each of the values that `symbol` can have.
struct Specialize {
  Symbol symbol;
  std::vector<int64_t> values;
  std::shared_ptr<const Block> body;
};

enum class MmaKind : uint8_t {
  Outer,  // by fma, in acc's dtype
  Dot2,   // by dot2: operands are u32, acc is f32
  Dot4,   // by dot4: operands are u32, acc is i32
};

// acc[row*cols + col] = fma(a, b, acc[row*cols + col]) for row < rows, col < cols, as one tile
// instruction or a block of them; or dot2, or dot4. `a` uses only the row symbol, `b` only the
// column symbol; acc is a register buffer.
struct Mma {
  MmaKind kind;
  Symbol row, col;
  Dim rows;
  int64_t cols;
  int acc;
  ExprRef a, b;

  Op step() const {
    return kind == MmaKind::Outer ? Op::Fma : kind == MmaKind::Dot2 ? Op::Dot2 : Op::Dot4;
  }
};

// On a GPU, outside of loops over threads: what the threads of a block have stored until here is
// seen by all of them from here on.
struct Barrier {};

// On a GPU, outside of loops over threads: a register buffer has one element in each thread, and
// each of them becomes what `join` makes of those of its group, `group` neighbouring threads (a
// power of 2: a warp or less, or the whole block). In a fixed tree: halves, lower thread first.
struct Combine {
  Op join;
  int buffer;
  int64_t group;
};

enum class TileKind : uint8_t { Fma, TensorCore };

// On a GPU, outside of loops over threads: acc += a x b for a tile of the block. Element e of
// thread t's accumulator is row `row`, column `col` of it, which are Dims over `thread` and
// `element`; `a` is a load from shared memory that uses the symbols i and k, `b` one that uses k
// and j. By fma, k ascending, or by tensor cores, whose order and rounding are their own (operands
// of 16 bits, or f32 rounded to 10 bits).
struct TileMma {
  TileKind kind;
  int acc;  // a register buffer of `elements`
  Symbol thread, element;
  int64_t threads, elements;
  Dim row, col;
  Symbol i, j, k;
  int64_t rows, cols, depth;
  ExprRef a, b;
};

// The memory at the offset is used soon: written where the kernel writes the buffer, else read. A
// hint that computes nothing, so it may lie outside.
struct Prefetch {
  int buffer;  // a global one
  Dim offset;
};

struct Stmt {
  std::variant<Loop, Store, Let, Specialize, Mma, Prefetch, Barrier, Combine, TileMma> node;
  template <typename T>
  const T* as() const {
    return std::get_if<T>(&node);
  }
};

enum class Level : uint8_t { Lowered, Scheduled, Gpu };

struct Kernel {
  std::string name;  // says what it is: "linear_gelu"
  Level level = Level::Lowered;
  std::vector<Buffer> buffers;
  std::vector<Symbol> dims;  // the free symbols: arguments, in this order
  Block body;
  Dim flops = 0;  // from the shapes, multiply-adds counted twice
  Dim bytes = 0;  // the least that must move

  int add_buffer(Buffer buffer);
  int argument_of(int buffer) const;  // position of a global buffer among the global ones
  Dim grid() const;                   // extent of the thread loop; Scheduled and Gpu
  int64_t block_threads() const;      // extent of the loops over threads; Gpu
  Dim scratch_bytes() const;
  Dim scratch_offset(int buffer) const;  // in bytes
};

Stmt loop(LoopKind kind, const Symbol& symbol, Dim extent, Block body);
Stmt ladder(const Symbol& start, Dim extent, const Symbol& rows, std::vector<int64_t> steps,
            Block body);
Stmt store(int buffer, Dim offset, ExprRef value, std::vector<Guard> guards = {});
Stmt let(const Symbol& symbol, ExprRef value, Dim extent, int buffer,
         std::vector<Guard> guards = {});
Stmt let_known(const Symbol& symbol, ExprRef value, Dim extent, std::vector<Guard> guards = {});
Stmt specialize(const Symbol& symbol, std::vector<int64_t> values, Block body);

// Applies `map` to every index, extent and guard of a statement; bound symbols are the caller's
// business.
Stmt substitute(const Stmt& stmt, const SymbolMap& map);
// Rebuilds every expression (and nothing else) of a block.
Block transform_exprs(const Block& block, const std::function<ExprRef(const ExprRef&)>& change);
// Calls `visit` on each statement, outer before inner.
void for_each(const Block& block, const std::function<void(const Stmt&)>& visit);

// The free symbols: used by the body, sizes or costs, but not bound by a loop, a reduction or a
// let. Sorted by name.
std::vector<Symbol> free_symbols(const Kernel& kernel);

// Adjacent nested parallel loops become one where every access addresses them as one. `b, s` over
// dense rows is `i`.
Kernel collapse_loops(const Kernel& kernel);

void verify(
    const Kernel& kernel);  // throws Internal; what is legal at each level is a table in verify.cpp
std::string print(const Kernel& kernel);
Kernel parse(std::string_view text);
// The text with buffers, symbols and the name numbered by first use: equal for kernels that compute
// the same way.
std::string canonical_text(const Kernel& kernel);

// Runs a kernel of either level on real memory, one pointer per buffer (null for those that are not
// global), values of `dims` in order. Single precision where the IR says f32, so a scheduled kernel
// gives the bits that compiled code gives.
void interpret(const Kernel& kernel, std::span<void* const> buffers, std::span<const int64_t> dims,
               int64_t* fault);

}  // namespace tenon::kernel
