// Runs a kernel, statement by statement: the proof that a schedule computes what the lowered kernel
// says. Every access is checked against the buffer's size, and memory that is not an argument is
// filled with a pattern (NaN for floats) before each work item, so that reading what was never
// written shows.
#include <array>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "kernel/interpret_code.h"

namespace tenon::kernel {
namespace {

struct StmtCode;
using BlockCode = std::vector<StmtCode>;

struct LoopCode {
  LoopKind kind;
  int slot, rows;  // rows: the ladder's
  DimCode extent;
  std::vector<int64_t> steps;
  BlockCode body;
};
struct StoreCode {
  int buffer;
  DimCode offset;
  GuardCode guards;
  ExprCode value;
};
struct LetCode {
  int slot;
  ExprCode value;
  DimCode extent;
  int argument;  // the one being indexed, or Let::kKnown
  GuardCode guards;
};
struct SpecializeCode {
  int slot;
  std::vector<int64_t> values;
  BlockCode body;
};
struct MmaCode {
  Op step;
  int row, col;
  DimCode rows;
  int64_t cols;
  int acc;
  ExprCode a, b;
};
struct PrefetchCode {};
struct BarrierCode {};
struct CombineCode {
  Op join;
  int buffer;
  int64_t group;
};
struct TileCode {
  int acc, thread, element, i, j, k;
  int64_t elements, depth;
  DimCode row, col;
  ExprCode a, b;
};
struct StmtCode {
  std::variant<LoopCode, StoreCode, LetCode, SpecializeCode, MmaCode, PrefetchCode, BarrierCode,
               CombineCode, TileCode>
      node;
};

class Compiler {
 public:
  Compiler(const Kernel& kernel, SlotTable& slots) : kernel_(kernel), slots_(slots) {
    for_each(kernel.body, [&](const Stmt& stmt) {
      if (const auto* s = stmt.as<Store>()) written_.insert(s->buffer);
      if (const auto* m = stmt.as<Mma>()) written_.insert(m->acc);
      if (const auto* t = stmt.as<TileMma>()) written_.insert(t->acc);
    });
  }

  BlockCode block(const Block& block) {
    BlockCode result;
    for (const Stmt& stmt : block) {
      std::visit([&](const auto& node) { result.push_back({compile(node)}); }, stmt.node);
    }
    return result;
  }

 private:
  DimCode dim(const Dim& d) { return {d, slots_}; }
  ExprCode expr(const ExprRef& root) { return {root, slots_, written_}; }
  LoopCode compile(const Loop& l) {
    const int rows = l.rows.empty() ? -1 : slots_.slot(l.rows[0]);
    return {l.kind, slots_.slot(l.symbol), rows, dim(l.extent), l.steps, block(*l.body)};
  }
  StoreCode compile(const Store& s) {
    return {s.buffer, dim(s.offset), GuardCode(s.guards, slots_), expr(s.value)};
  }
  LetCode compile(const Let& l) {
    return {slots_.slot(l.symbol), expr(l.value), dim(l.extent),
            l.is_checked() ? kernel_.argument_of(l.buffer) : Let::kKnown,
            GuardCode(l.guards, slots_)};
  }
  SpecializeCode compile(const Specialize& s) {
    return {slots_.slot(s.symbol), s.values, block(*s.body)};
  }
  MmaCode compile(const Mma& m) {
    return {m.step(), slots_.slot(m.row), slots_.slot(m.col), dim(m.rows), m.cols,
            m.acc,    expr(m.a),          expr(m.b)};
  }
  static PrefetchCode compile(const Prefetch&) { return {}; }
  static BarrierCode compile(const Barrier&) { return {}; }
  static CombineCode compile(const Combine& c) { return {c.join, c.buffer, c.group}; }
  TileCode compile(const TileMma& t) {
    const DType dtype = kernel_.buffers[static_cast<size_t>(t.acc)].dtype;
    return {t.acc,
            slots_.slot(t.thread),
            slots_.slot(t.element),
            slots_.slot(t.i),
            slots_.slot(t.j),
            slots_.slot(t.k),
            t.elements,
            t.depth,
            dim(t.row),
            dim(t.col),
            expr(cast(t.a, dtype)),
            expr(cast(t.b, dtype))};
  }

  const Kernel& kernel_;
  SlotTable& slots_;
  std::set<int> written_;
};

class Interpreter {
 public:
  Interpreter(const Kernel& kernel, std::span<void* const> buffers, std::span<const int64_t> dims,
              int64_t* fault);
  void run() { block(body_); }

 private:
  void allocate(size_t index, void* argument, int64_t elements);
  void poison();
  void block(BlockCode& code) {
    for (StmtCode& stmt : code) {
      std::visit([&](auto& node) { execute(node); }, stmt.node);
    }
  }
  void execute(LoopCode& loop);
  void execute(StoreCode& store);
  void execute(LetCode& let);
  void execute(SpecializeCode& specialize);
  void execute(MmaCode& mma);
  void execute(PrefetchCode&) {}
  void execute(BarrierCode&) { machine_.races.barrier(); }
  void execute(CombineCode& combine);
  void execute(TileCode& tile);
  void together(LoopCode& loop, int64_t extent);
  void ladder(LoopCode& loop, int64_t extent);
  void vector(LoopCode& loop, int64_t lanes);
  void vector_store(StoreCode& store, int lane_slot, int64_t lanes);
  [[noreturn]] void fail(std::string_view what) const {
    throw internal_error("[interpret] kernel {}: {}", machine_.kernel->name, what);
  }
  int64_t* slots() { return machine_.slots.data(); }

  using Lanes = std::array<int64_t, kLaneCount>;
  Machine machine_;
  std::vector<std::unique_ptr<std::byte[]>> owned_;
  std::vector<std::span<std::byte>> private_;  // what a work item must not find filled
  std::vector<std::pair<int, Lanes>> lets_;    // of the vector loop being run, per lane
  BlockCode body_;
  int64_t* fault_;
  int watched_ = 0;
};

Interpreter::Interpreter(const Kernel& kernel, std::span<void* const> buffers,
                         std::span<const int64_t> dims, int64_t* fault)
    : fault_(fault) {
  machine_.kernel = &kernel;
  if (buffers.size() != kernel.buffers.size()) fail("one pointer per buffer is needed");
  if (dims.size() != kernel.dims.size()) fail("one value per dim is needed");
  SlotTable table;
  std::vector<int> dim_slots;
  for (const Symbol& symbol : kernel.dims) dim_slots.push_back(table.slot(symbol));
  body_ = Compiler(kernel, table).block(kernel.body);
  std::vector<DimCode> elements;
  for (const Buffer& b : kernel.buffers) elements.emplace_back(b.elements, table);
  machine_.slots.assign(table.size(), 0);
  for (size_t i = 0; i < dims.size(); ++i) {
    machine_.slots[static_cast<size_t>(dim_slots[i])] = dims[i];
  }
  machine_.memory.resize(buffers.size());
  if (kernel.level == Level::Gpu) machine_.threads = kernel.block_threads();
  for (size_t i = 0; i < buffers.size(); ++i) allocate(i, buffers[i], elements[i](slots()));
  poison();
}

void Interpreter::allocate(size_t index, void* argument, int64_t elements) {
  const Buffer& buffer = machine_.kernel->buffers[index];
  auto* data = static_cast<std::byte*>(argument);
  const bool of_thread = buffer.storage == Storage::Stack || buffer.storage == Storage::Register;
  const bool on_gpu = machine_.kernel->level == Level::Gpu;
  const int64_t per_thread = of_thread && on_gpu ? elements * size_of(buffer.dtype) : 0;
  if (buffer.storage != Storage::Global) {
    const int64_t copies = per_thread > 0 ? machine_.threads : 1;
    const auto size =
        static_cast<size_t>(std::max<int64_t>(elements, 0) * size_of(buffer.dtype) * copies);
    owned_.push_back(std::make_unique<std::byte[]>(size));
    data = owned_.back().get();
    private_.emplace_back(data, size);
  } else if (!data && elements > 0) {
    fail(fmt::format("no memory is given for buffer {}", buffer.name));
  }
  machine_.memory[index] = {data, elements, buffer.dtype, per_thread};
  if (!on_gpu || of_thread || (buffer.storage == Storage::Global && !buffer.written)) return;
  machine_.memory[index].watched = watched_++;
  machine_.races.watch(elements, buffer.storage != Storage::Global);
}

void Interpreter::poison() {
  for (const auto memory : private_) {
    if (!memory.empty()) std::memset(memory.data(), 0xff, memory.size());
  }
}

void Interpreter::execute(LoopCode& loop) {
  const int64_t extent = loop.extent(slots());
  if (loop.kind == LoopKind::Ladder) return ladder(loop, extent);
  if (loop.kind == LoopKind::Vector) return vector(loop, extent);
  if (loop.kind == LoopKind::Together) return together(loop, extent);
  for (int64_t i = 0; i < extent; ++i) {
    slots()[loop.slot] = i;
    if (loop.kind == LoopKind::Thread) {
      poison();
      machine_.races.begin_block();
    }
    block(loop.body);
  }
}

// One thread after the other; that none sees what another does meanwhile is what Races checks.
void Interpreter::together(LoopCode& loop, int64_t extent) {
  for (int64_t i = 0; i < extent; ++i) {
    slots()[loop.slot] = i;
    machine_.thread = i;
    block(loop.body);
  }
  machine_.thread = Races::kAll;
}

void Interpreter::execute(CombineCode& combine) {
  const DType dtype = machine_.memory[static_cast<size_t>(combine.buffer)].dtype;
  const int64_t threads = machine_.threads;
  std::vector<Value> values;
  for (machine_.thread = 0; machine_.thread < threads; ++machine_.thread)
    values.push_back(machine_.load(combine.buffer, 0));
  for (int64_t first = 0; first < threads; first += combine.group) {
    for (int64_t half = combine.group / 2; half > 0; half /= 2) {
      for (int64_t i = first; i < first + half; ++i) {
        Value& to = values[static_cast<size_t>(i)];
        to = apply(combine.join, dtype, to, values[static_cast<size_t>(i + half)], {});
      }
    }
    for (machine_.thread = first; machine_.thread < first + combine.group; ++machine_.thread)
      machine_.store(combine.buffer, 0, values[static_cast<size_t>(first)]);
  }
  machine_.thread = Races::kAll;
}

void Interpreter::execute(TileCode& tile) {
  const DType dtype = machine_.memory[static_cast<size_t>(tile.acc)].dtype;
  for (int64_t t = 0; t < machine_.threads; ++t) {
    slots()[tile.thread] = t;
    machine_.thread = t;
    for (int64_t e = 0; e < tile.elements; ++e) {
      slots()[tile.element] = e;
      slots()[tile.i] = tile.row(slots());
      slots()[tile.j] = tile.col(slots());
      Value sum = machine_.load(tile.acc, e);
      for (int64_t k = 0; k < tile.depth; ++k) {
        slots()[tile.k] = k;
        const Value a = tile.a.run(machine_, slots());
        sum = apply(Op::Fma, dtype, a, tile.b.run(machine_, slots()), sum);
      }
      machine_.store(tile.acc, e, sum);
    }
  }
  machine_.thread = Races::kAll;
}

void Interpreter::ladder(LoopCode& loop, int64_t extent) {
  for (int64_t start = 0; start < extent;) {
    int64_t rows = 0;
    for (const int64_t step : loop.steps) {
      if (rows == 0 && step <= extent - start) rows = step;
    }
    if (rows <= 0) fail("no step of a ladder fits");
    slots()[loop.slot] = start;
    slots()[loop.rows] = rows;
    block(loop.body);
    start += rows;
  }
}

// All lanes do one statement before any does the next, as vector instructions do.
void Interpreter::vector(LoopCode& loop, int64_t lanes) {
  lets_.clear();
  for (StmtCode& stmt : loop.body) {
    if (auto* store = std::get_if<StoreCode>(&stmt.node)) {
      vector_store(*store, loop.slot, lanes);
    } else if (auto* let = std::get_if<LetCode>(&stmt.node)) {
      Lanes found{};
      for (int64_t lane = 0; lane < lanes; ++lane) {
        slots()[loop.slot] = lane;
        for (const auto& [slot, values] : lets_) slots()[slot] = values[static_cast<size_t>(lane)];
        execute(*let);
        found[static_cast<size_t>(lane)] = slots()[let->slot];
      }
      lets_.emplace_back(let->slot, found);
    } else {
      fail("a vector loop holds more than stores and lets");
    }
  }
}

void Interpreter::vector_store(StoreCode& store, int lane_slot, int64_t lanes) {
  Value values[kLaneCount];
  int64_t offsets[kLaneCount];
  bool happens[kLaneCount];
  for (int64_t lane = 0; lane < lanes; ++lane) {
    slots()[lane_slot] = lane;
    for (const auto& [slot, found] : lets_) slots()[slot] = found[static_cast<size_t>(lane)];
    values[lane] = store.value.run(machine_, slots());
    offsets[lane] = store.offset(slots());
    happens[lane] = store.guards.holds(slots());
  }
  for (int64_t lane = 0; lane < lanes; ++lane) {
    if (happens[lane]) machine_.store(store.buffer, offsets[lane], values[lane]);
  }
}

void Interpreter::execute(StoreCode& store) {
  const Value value = store.value.run(machine_, slots());
  if (store.guards.holds(slots())) machine_.store(store.buffer, store.offset(slots()), value);
}

void Interpreter::execute(LetCode& let) {
  slots()[let.slot] = 0;
  if (!let.guards.holds(slots())) return;
  const int64_t index = let.value.run(machine_, slots()).i;
  const int64_t extent = let.extent(slots());
  if (let.argument == Let::kKnown) {
    if (index < 0 || index >= extent) fail(fmt::format("{} of {} is not known", index, extent));
    slots()[let.slot] = index;
    return;
  }
  const bool inside = index >= -extent && index < extent;
  if (!inside && fault_ && fault_[0] == 0) {  // the words of program::Step's fault
    fault_[0] = 1 + let.argument;
    fault_[1] = index;
    fault_[2] = extent;
  }
  slots()[let.slot] = !inside ? 0 : index < 0 ? index + extent : index;
}

void Interpreter::execute(SpecializeCode& specialize) {
  const int64_t value = slots()[specialize.slot];
  for (const int64_t allowed : specialize.values) {
    if (value == allowed) return block(specialize.body);
  }
  fail(fmt::format("nothing is specialized for {}", value));
}

void Interpreter::execute(MmaCode& mma) {
  const int64_t rows = mma.rows(slots());
  const DType dtype = machine_.memory[static_cast<size_t>(mma.acc)].dtype;
  std::vector<Value> b;
  for (int64_t col = 0; col < mma.cols; ++col) {
    slots()[mma.col] = col;
    b.push_back(mma.b.run(machine_, slots()));
  }
  for (int64_t row = 0; row < rows; ++row) {
    slots()[mma.row] = row;
    const Value a = mma.a.run(machine_, slots());
    for (int64_t col = 0; col < mma.cols; ++col) {
      const int64_t at = row * mma.cols + col;
      const Value acc = machine_.load(mma.acc, at);
      const Value sum = apply(mma.step, dtype, a, b[static_cast<size_t>(col)], acc);
      machine_.store(mma.acc, at, sum);
    }
  }
}

}  // namespace

void interpret(const Kernel& kernel, std::span<void* const> buffers, std::span<const int64_t> dims,
               int64_t* fault) {
  Interpreter(kernel, buffers, dims, fault).run();
}

}  // namespace tenon::kernel
