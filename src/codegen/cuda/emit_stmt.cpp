// Statements: work items, loops, threads, indices found at run time.
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "codegen/cuda/emitter.h"

namespace tenon::codegen::cuda {

using kernel::LoopKind;

void Emitter::refuse(std::string_view what) const {
  throw internal_error("kernel {}: no CUDA for {}", kernel_.name, what);
}

// Lets are bound until their block ends.
void Emitter::emit_block(const kernel::Block& block) {
  for (const kernel::Stmt& stmt : block) emit_stmt(stmt);
  for (const kernel::Stmt& stmt : block) {
    if (const auto* let = stmt.as<kernel::Let>(); let && !lane_) unbind(let->symbol);
  }
}

void Emitter::emit_counted(const kernel::Loop& loop) {
  loop.kind == LoopKind::Thread ? emit_grid(loop) : emit_serial(loop);
}

// Any number of blocks is right; what they share among their threads is not overwritten for the
// next work item before all of them have done with this one.
void Emitter::emit_grid(const kernel::Loop& loop) {
  const bool wide = !fits_i32(loop.symbol.bounds());
  const std::string& name = names_.of(loop.symbol.name());
  line("const i64 grid = (i64)arguments[0];");
  open("for (i64 item = blockIdx.x; item < grid; item += gridDim.x)");
  line("const {0} {1} = ({0})item;", wide ? "i64" : "i32", name);
  declare_thread_buffers();
  bind(loop.symbol, name, wide);
  emit_block(*loop.body);
  unbind(loop.symbol);
  const bool has_scratch =
      std::any_of(kernel_.buffers.begin(), kernel_.buffers.end(),
                  [](const kernel::Buffer& b) { return b.storage == kernel::Storage::Scratch; });
  if (has_scratch || layout_.bytes > 0) line("if (item + gridDim.x < grid) __syncthreads();");
  close();
}

void Emitter::emit_serial(const kernel::Loop& loop) {
  const Dim extent = known(loop.extent);
  if (extent.bounds().lo >= 0 && extent.bounds().hi <= 1) {
    open(fmt::format("if ({} > 0)", dim(extent)));
    constants_[loop.symbol.name()] = 0;
    emit_block(*loop.body);
    constants_.erase(loop.symbol.name());
    return close();
  }
  const bool wide = !fits_i32(extent.bounds());
  if (const auto pipeline = find_pipeline(kernel_, loop); pipeline && !wide)
    return emit_pipeline(loop, *pipeline);
  const std::string& name = names_.of(loop.symbol.name());
  const std::string end = fresh("end");
  line("const {} {} = {};", wide ? "i64" : "i32", end, dim(extent));
  open(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", wide ? "i64" : "i32", name, end));
  bind(loop.symbol, name, wide);
  ++loops_;
  emit_block(*loop.body);
  --loops_;
  unbind(loop.symbol);
  close();
}

void Emitter::emit_on_gpu(const kernel::Stmt& stmt) {
  if (const auto* loop = stmt.as<kernel::Loop>()) return emit_together(*loop);
  if (stmt.as<kernel::Barrier>()) return line("__syncthreads();");
  if (const auto* combine = stmt.as<kernel::Combine>()) return emit_combine(*combine);
  if (const auto* tile = stmt.as<kernel::TileMma>()) {
    return tile->kind == kernel::TileKind::Fma ? emit_tile_fma(*tile) : emit_tensor_core(*tile);
  }
  refuse("such a statement");
}

// Once for memory that is aligned, as it mostly is, so that all accesses are wide and nothing
// stands between them; and once for memory that is not.
void Emitter::emit_together(const kernel::Loop& loop) {
  std::string before = std::move(out_);
  out_.clear();
  assumed_.clear();
  assumes_aligned_ = true;
  emit_threads(loop);
  assumes_aligned_ = false;
  const std::string inside = std::exchange(out_, std::move(before));
  if (assumed_.empty()) {
    out_ += inside;
    return;
  }
  open(fmt::format("if ({})", fmt::join(assumed_, " && ")));
  out_ += inside;
  close();
  open("else");
  emit_threads(loop);
  close();
}

void Emitter::emit_threads(const kernel::Loop& loop) {
  open();
  bind(loop.symbol, "tid", false);
  emit_block(*loop.body);
  unbind(loop.symbol);
  close();
}

// Where a guard fails the index is 0, and never a fault.
void Emitter::emit_let(const kernel::Let& let) {
  const Value value = emit_cast(emit_expr(let.value), DType::I64);
  const bool per_lane = value.varies() || varies(let.guards) || is_varying(let.extent);
  const bool wide = !fits_i32(let.symbol.bounds());
  const std::string name = names_.fresh(let.symbol.name());
  std::vector<std::string> names;
  for (int64_t lane = 0; lane < lanes_of(per_lane); ++lane) {
    std::string text = value.at(lane);
    if (let.is_checked()) {
      text = fmt::format("checked_index({}, {}, {}, (u64 *)arguments[3], arguments[4])", text,
                         dim(let.extent, lane), kernel_.argument_of(let.buffer) + 1);
    }
    const std::string holds = guard_text(let.guards, lane);
    if (!holds.empty()) text = fmt::format("{} ? {} : 0", holds, text);
    names.push_back(per_lane ? fmt::format("{}{}", name, lane) : name);
    line("const {0} {1} = ({0})({2});", wide ? "i64" : "i32", names.back(), text);
  }
  if (per_lane) {
    lane_symbols_[let.symbol.name()] = std::move(names);
  } else {
    bind(let.symbol, name, wide);
  }
}

void Emitter::bind(const Symbol& symbol, std::string text, bool wide) {
  bindings_[symbol.name()] = {std::move(text), wide, indent_};
}

IndexText Emitter::index(const Dim& raw, int64_t lane) {
  const Dim d = known(raw);
  return index_text(lane_ ? at_lane(d, lane) : d, [&](const Symbol& symbol) -> SymbolText {
    if (const auto it = lane_symbols_.find(symbol.name()); it != lane_symbols_.end()) {
      return {it->second[static_cast<size_t>(lane)], !fits_i32(symbol.bounds()), indent_};
    }
    const auto it = bindings_.find(symbol.name());
    TENON_CHECK(it != bindings_.end(), "kernel {}: symbol {} has no value", kernel_.name,
                symbol.name());
    return it->second;
  });
}

}  // namespace tenon::codegen::cuda
