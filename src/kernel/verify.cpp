// Whether a kernel is legal at its level. What a level allows is a table; the rest are rules of the
// IR that hold at every level. A violation is a bug of the pass that made the kernel, so it is an
// Internal error that names the kernel and the rule.
#include <algorithm>
#include <set>

#include "kernel/text.h"
#include "kernel/verify_code.h"

namespace tenon::kernel {
namespace {

constexpr unsigned bit(auto enumerator) { return 1u << static_cast<unsigned>(enumerator); }
enum StmtBit : unsigned {
  kLoop = 1,
  kStore = 2,
  kLet = 4,
  kSpecialize = 8,
  kMma = 16,
  kPrefetch = 32,
  kBarrier = 64,
  kCombine = 128,
  kTile = 256
};
constexpr std::string_view kStmtText[] = {"a loop",   "a store", "let",     "specialize", "mma",
                                          "prefetch", "barrier", "combine", "tile"};

constexpr LevelRules kLevels[] = {
    // Lowered: loops in any order, reductions as values
    {.statements = kLoop | kStore | kLet,
     .loops = bit(LoopKind::Parallel) | bit(LoopKind::Serial),
     .storages = bit(Storage::Global) | bit(Storage::Scratch) | bit(Storage::Stack) |
                 bit(Storage::Register),
     .forbidden_traits = kLanes,
     .has_threads = false},
    // Scheduled: what a CPU generator takes
    {.statements = kLoop | kStore | kLet | kSpecialize | kMma | kPrefetch,
     .loops = bit(LoopKind::Serial) | bit(LoopKind::Thread) | bit(LoopKind::Ladder) |
              bit(LoopKind::Unroll) | bit(LoopKind::Vector),
     .storages = bit(Storage::Global) | bit(Storage::Scratch) | bit(Storage::Stack) |
                 bit(Storage::Register),
     .forbidden_traits = kReduce | kExpanded,
     .has_threads = false},
    // Gpu: what a GPU generator takes
    {.statements = kLoop | kStore | kLet | kBarrier | kCombine | kTile,
     .loops = bit(LoopKind::Serial) | bit(LoopKind::Thread) | bit(LoopKind::Unroll) |
              bit(LoopKind::Vector) | bit(LoopKind::Together),
     .storages = bit(Storage::Global) | bit(Storage::Scratch) | bit(Storage::Stack) |
                 bit(Storage::Register) | bit(Storage::Shared),
     .forbidden_traits = kReduce | kExpanded | kLanes | kOnCpu,
     .has_threads = true},
};

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel), rules_(rules_of(kernel.level)) {}

  void run() {
    Scope scope(kernel_);
    for (const Symbol& symbol : kernel_.dims) scope.bind({Binding::Kind::Dim, symbol, 0});
    scope.check_bound(kernel_.flops, "flops");
    scope.check_bound(kernel_.bytes, "bytes");
    for (const Buffer& b : kernel_.buffers) buffer(scope, b);
    thread_loops(scope);
    block(scope, kernel_.body);
  }

 private:
  void buffer(const Scope& scope, const Buffer& b) const;
  void thread_loops(const Scope& scope) const;
  void block(Scope scope, const Block& block) const;
  void statement(Scope& scope, const Loop& loop) const;
  void statement(Scope& scope, const Store& store) const;
  void statement(Scope& scope, const Let& let) const;
  void statement(Scope& scope, const Specialize& specialize) const;
  void statement(Scope& scope, const Mma& mma) const;
  void statement(Scope& scope, const Prefetch& prefetch) const;
  void statement(Scope& scope, const Barrier& barrier) const;
  void statement(Scope& scope, const Combine& combine) const;
  void statement(Scope& scope, const TileMma& tile) const;
  void tile_operand(const Scope& scope, const ExprRef& value, std::string_view what) const;
  void vector_extent(const Scope& scope, const Loop& loop) const;
  void ladder(const Scope& scope, const Loop& loop) const;
  void mma_operand(const Scope& scope, const ExprRef& value, const Symbol& other, DType dtype,
                   std::string_view what) const;

  const Kernel& kernel_;
  const LevelRules& rules_;
};

void Verifier::buffer(const Scope& scope, const Buffer& b) const {
  scope.check((rules_.storages & bit(b.storage)) != 0, "buffer {}: no {} storage when {}", b.name,
              text_of(b.storage), text_of(kernel_.level));
  scope.check_bound(b.elements, "the size of a buffer");
  const bool fixed =
      b.storage == Storage::Stack || b.storage == Storage::Register || b.storage == Storage::Shared;
  scope.check(!fixed || b.elements.is_const(), "buffer {}: {} storage of symbolic size {}", b.name,
              text_of(b.storage), b.elements.to_string());
  scope.check(prove_le(0, b.elements) != Proof::No, "buffer {}: negative size", b.name);
  scope.check(b.depth >= 1, "buffer {}: depth {}", b.name, b.depth);
  scope.check(b.source_index >= 0, "buffer {}: source index {}", b.name, b.source_index);
}

void Verifier::thread_loops(const Scope& scope) const {
  int count = 0;
  for_each(kernel_.body, [&](const Stmt& stmt) {
    const auto* l = stmt.as<Loop>();
    if (l && l->kind == LoopKind::Thread) ++count;
  });
  if (count == 0) return;
  const auto* outer = kernel_.body.size() == 1 ? kernel_.body[0].as<Loop>() : nullptr;
  scope.check(count == 1 && outer && outer->kind == LoopKind::Thread,
              "a thread loop must be the one outermost statement");
}

// By value: what a block binds is not known after it.
void Verifier::block(Scope scope, const Block& block) const {
  for (const Stmt& stmt : block) {
    const auto kind = static_cast<unsigned>(stmt.node.index());
    scope.check((rules_.statements >> kind & 1) != 0, "no {} when {}", kStmtText[kind],
                text_of(kernel_.level));
    std::visit([&](const auto& node) { statement(scope, node); }, stmt.node);
  }
}

void Verifier::statement(Scope& scope, const Loop& loop) const {
  const std::string_view kind = text_of(loop.kind);
  scope.check((rules_.loops & bit(loop.kind)) != 0, "no {} loop when {}", kind,
              text_of(kernel_.level));
  scope.check(!scope.in_vector, "a vector loop may contain stores and lets only");
  scope.check_bound(loop.extent, "a loop's extent");
  scope.check(loop.body != nullptr, "{} {} has no body", kind, loop.symbol.name());
  Scope inside = scope;
  if (loop.kind == LoopKind::Ladder) {
    ladder(scope, loop);
    inside.bind({Binding::Kind::LadderStart, loop.symbol, loop.extent});
    inside.bind({Binding::Kind::LadderRows, loop.rows[0], 0, loop.steps});
    return block(std::move(inside), *loop.body);
  }
  scope.check(loop.rows.empty() && loop.steps.empty(), "only a ladder has rows and steps");
  if (loop.kind == LoopKind::Vector) {
    vector_extent(scope, loop);
    inside.in_vector = true;
  }
  if (loop.kind == LoopKind::Together) {
    scope.check(!scope.in_threads, "together {} stands inside of another one", loop.symbol.name());
    scope.check(loop.extent.is_const(kernel_.block_threads()),
                "together {} over {}: not all loops over threads are alike", loop.symbol.name(),
                loop.extent.to_string());
    inside.in_threads = true;
  }
  const bool constant = loop.kind == LoopKind::Vector || loop.kind == LoopKind::Unroll;
  scope.check(!constant || scope.is_constant(loop.extent), "{} {} over {}, which is not constant",
              kind, loop.symbol.name(), loop.extent.to_string());
  inside.bind({Binding::Kind::Range, loop.symbol, loop.extent, {}, constant});
  block(std::move(inside), *loop.body);
}

void Verifier::vector_extent(const Scope& scope, const Loop& loop) const {
  const int64_t lanes = loop.extent.is_const() ? loop.extent.const_value() : 0;
  const bool fits = rules_.has_threads ? lanes == 2 || lanes == 4 || lanes == 8 || lanes == 16
                                       : lanes == kLaneCount;
  scope.check(fits, "vector {} has extent {}, not {}", loop.symbol.name(), loop.extent.to_string(),
              rules_.has_threads ? "2, 4, 8 or 16" : "16");
}

void Verifier::ladder(const Scope& scope, const Loop& loop) const {
  scope.check(loop.rows.size() == 1, "ladder {} needs one rows symbol", loop.symbol.name());
  const bool descends =
      std::is_sorted(loop.steps.rbegin(), loop.steps.rend()) &&
      std::adjacent_find(loop.steps.begin(), loop.steps.end()) == loop.steps.end();
  scope.check(descends && !loop.steps.empty() && loop.steps.back() == 1,
              "the steps of ladder {} must descend and end with 1", loop.symbol.name());
}

void Verifier::statement(Scope& scope, const Store& store) const {
  const Buffer& target = scope.buffer(store.buffer);
  scope.check(scope.in_threads || !rules_.has_threads, "a store to {} outside of all threads",
              target.name);
  verify_access(scope, store.buffer, store.offset, store.guards);
  scope.check(store.value != nullptr, "a store to {} has no value", target.name);
  verify_expr(scope, store.value);
  scope.check(store.value->dtype == target.dtype, "{} is stored to buffer {} of {}",
              to_string(store.value->dtype), target.name, to_string(target.dtype));
  scope.check(target.storage != Storage::Global || target.written,
              "buffer {} is stored to but not marked as written", target.name);
}

void Verifier::statement(Scope& scope, const Let& let) const {
  if (let.is_checked()) scope.buffer(let.buffer);
  scope.check_bound(let.extent, "a let's extent");
  for (const Guard& guard : let.guards) {
    scope.check_bound(guard.index, "a let's guard");
    scope.check_bound(guard.bound, "a let's guard");
  }
  scope.check(let.value != nullptr, "let {} has no value", let.symbol.name());
  verify_expr(scope, let.value);
  scope.check(is_integer(let.value->dtype), "let {} is {}, not an integer", let.symbol.name(),
              to_string(let.value->dtype));
  scope.bind({Binding::Kind::Range, let.symbol, let.extent, {}, false, true});
}

void Verifier::statement(Scope& scope, const Specialize& specialize) const {
  const std::string& name = specialize.symbol.name();
  scope.check(!scope.in_vector, "a vector loop may contain stores and lets only");
  const Binding* binding = scope.find(specialize.symbol);
  scope.check(binding != nullptr, "specialize {}: the symbol is not bound", name);
  const std::set<int64_t> values(specialize.values.begin(), specialize.values.end());
  scope.check(!values.empty() && values.size() == specialize.values.size(),
              "specialize {}: values must exist and differ", name);
  for (const int64_t step : binding->steps) {
    scope.check(values.contains(step), "specialize {}: the ladder's step {} has no body", name,
                step);
  }
  scope.check(specialize.body != nullptr, "specialize {} has no body", name);
  Scope inside = scope;
  inside.make_constant(specialize.symbol);
  block(std::move(inside), *specialize.body);
}

void Verifier::statement(Scope& scope, const Mma& mma) const {
  scope.check(!scope.in_vector, "a vector loop may contain stores and lets only");
  const Buffer& acc = scope.buffer(mma.acc);
  const bool numbers = is_computed(acc.dtype) && acc.dtype != DType::Bool;
  scope.check(acc.storage == Storage::Register && numbers, "mma: {} is no register buffer",
              acc.name);
  scope.check_bound(mma.rows, "the rows of mma");
  scope.check(scope.is_constant(mma.rows), "mma over {} rows, which is not constant",
              mma.rows.to_string());
  scope.check(mma.cols > 0 && mma.cols % kLaneCount == 0, "mma over {} columns, no multiple of {}",
              mma.cols, kLaneCount);
  Scope inside = scope;
  inside.bind({Binding::Kind::Range, mma.row, mma.rows, {}, true});
  inside.bind({Binding::Kind::Range, mma.col, mma.cols, {}, true});
  verify_access(inside, mma.acc, Dim(mma.row) * mma.cols + Dim(mma.col), {});
  const bool groups = takes_groups(mma.step());
  scope.check(!groups || acc.dtype == contracting(mma.step())->groups, "mma {}: {} is {}",
              text_of(mma.kind), acc.name, to_string(acc.dtype));
  const DType operand = groups ? DType::U32 : acc.dtype;
  mma_operand(inside, mma.a, mma.col, operand, "left");
  mma_operand(inside, mma.b, mma.row, operand, "right");
}

void Verifier::statement(Scope& scope, const Prefetch& prefetch) const {
  scope.check(!scope.in_vector, "a vector loop may contain stores and lets only");
  const Buffer& target = scope.buffer(prefetch.buffer);
  scope.check_bound(prefetch.offset, target.name);
  scope.check(target.storage == Storage::Global, "buffer {} is prefetched but is no memory",
              target.name);
}

void Verifier::statement(Scope& scope, const Barrier&) const {
  scope.check(!scope.in_threads, "a barrier inside of a loop over threads");
}

void Verifier::statement(Scope& scope, const Combine& combine) const {
  const Buffer& target = scope.buffer(combine.buffer);
  scope.check(!scope.in_threads, "combine {} inside of a loop over threads", target.name);
  scope.check(target.storage == Storage::Register && target.elements.is_const(1),
              "combine {}: not one element in each thread's registers", target.name);
  const int64_t threads = kernel_.block_threads(), group = combine.group;
  scope.check(group >= 1 && (group & (group - 1)) == 0 && (group <= 32 || group == threads) &&
                  threads % group == 0,
              "combine {} of {} of {} threads", target.name, group, threads);
}

void Verifier::statement(Scope& scope, const TileMma& tile) const {
  const Buffer& acc = scope.buffer(tile.acc);
  scope.check(!scope.in_threads, "a tile inside of a loop over threads");
  scope.check(acc.storage == Storage::Register && acc.elements.is_const(tile.elements),
              "tile: {} is no register buffer of {} elements", acc.name, tile.elements);
  scope.check(tile.threads == kernel_.block_threads(), "tile: {} threads of {}", tile.threads,
              kernel_.block_threads());
  scope.check(tile.rows * tile.cols == tile.threads * tile.elements && tile.depth > 0,
              "tile of {} x {} in {} elements of {} threads", tile.rows, tile.cols, tile.elements,
              tile.threads);
  Scope layout = scope;
  layout.bind({Binding::Kind::Range, tile.thread, tile.threads});
  layout.bind({Binding::Kind::Range, tile.element, tile.elements, {}, true});
  layout.check_bound(tile.row, "a tile's row");
  layout.check_bound(tile.col, "a tile's column");
  Scope inside = scope;
  inside.bind({Binding::Kind::Range, tile.i, tile.rows});
  inside.bind({Binding::Kind::Range, tile.j, tile.cols});
  inside.bind({Binding::Kind::Range, tile.k, tile.depth});
  tile_operand(inside, tile.a, "left");
  tile_operand(inside, tile.b, "right");
  scope.check(!uses(tile.a, tile.j) && !uses(tile.b, tile.i), "tile: operands use both sides");
}

void Verifier::tile_operand(const Scope& scope, const ExprRef& value, std::string_view what) const {
  scope.check(value != nullptr && value->op == Op::Load, "tile: the {} operand is no load", what);
  verify_expr(scope, value);
  scope.check(scope.buffer(value->buffer).storage == Storage::Shared && value->guards.empty(),
              "tile: the {} operand is not read from shared memory", what);
}

void Verifier::mma_operand(const Scope& scope, const ExprRef& value, const Symbol& other,
                           DType dtype, std::string_view what) const {
  scope.check(value != nullptr, "mma has no {} operand", what);
  verify_expr(scope, value);
  scope.check(value->dtype == dtype, "mma: the {} operand is {}", what, to_string(value->dtype));
  scope.check(!uses(value, other), "mma: the {} operand uses {}", what, other.name());
}

}  // namespace

const LevelRules& rules_of(Level level) { return kLevels[static_cast<int>(level)]; }

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace tenon::kernel
