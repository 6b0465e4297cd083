// Staged loops as software pipelines: the steps to come are copied to shared memory, `depth` - 1
// ahead, while one is computed. One barrier per step: it says that the step's copies have arrived
// and that nobody computes from the memory that is filled next.
#include <utility>

#include "codegen/cuda/emitter.h"

namespace tenon::codegen::cuda {

void Emitter::in_slot(const Pipeline& pipeline, const std::string& step,
                      const std::function<void()>& emit_inside) {
  std::map<int, std::string> outside;
  for (const int at : pipeline.buffers) {
    const std::string slot = fresh("slot");
    line("{} *const {} = {} + (i32)((u32){} % {}u) * {};", scalar_type(buffer(at).dtype), slot,
         storage(at).base, step, pipeline.depth, layout_.slot_elements[static_cast<size_t>(at)]);
    outside[at] = std::exchange(storage(at).base, slot);
  }
  emit_inside();
  for (auto& [at, base] : outside) storage(at).base = std::move(base);
}

void Emitter::emit_fill(const Pipeline& pipeline, const Symbol& symbol, const std::string& step,
                        const std::string& end) {
  open(fmt::format("if ({} < {})", step, end));
  const SymbolText outside = std::exchange(bindings_[symbol.name()], {step, false, indent_});
  in_slot(pipeline, step, [&] {
    fills_ahead_ = true;
    emit_together(*pipeline.fill);
    fills_ahead_ = false;
  });
  bindings_[symbol.name()] = outside;
  close();
  line("end_copies();");
}

void Emitter::emit_pipeline(const kernel::Loop& loop, const Pipeline& pipeline) {
  const std::string& step = names_.of(loop.symbol.name());
  const std::string end = fresh("end"), next = fresh("next");
  open();
  line("const i32 {} = {};", end, dim(loop.extent));
  open(fmt::format("for (i32 {0} = 0; {0} < {1}; ++{0})", next, pipeline.depth - 1));
  emit_fill(pipeline, loop.symbol, next, end);
  close();
  line("#pragma unroll 1");
  open(fmt::format("for (i32 {0} = 0; {0} < {1}; ++{0})", step, end));
  line("wait_for_copies<{}>();", pipeline.depth - 2);
  line("__syncthreads();");
  line("const i32 {} = {} + {};", next, step, pipeline.depth - 1);
  emit_fill(pipeline, loop.symbol, next, end);
  bind(loop.symbol, step, false);
  ++loops_;
  in_slot(pipeline, step, [&] {
    for (const kernel::Stmt& stmt : pipeline.compute) emit_stmt(stmt);
  });
  --loops_;
  unbind(loop.symbol);
  close();
  line("wait_for_copies<0>();");
  line("__syncthreads();");
  close();
}

// Elements that go from global to shared memory as they are: the copy needs no register and nobody
// waits for it. Where a guard fails the elements are 0.
bool Emitter::emit_copy(const kernel::Store& store) {
  const kernel::Expr& value = *store.value;
  const int64_t bytes = lane_count_ * size_of(value.dtype);
  if (!fills_ahead_ || !lane_ || !buffer(store.buffer).async || value.op != kernel::Op::Load ||
      !store.guards.empty() || buffer(value.buffer).storage != kernel::Storage::Global ||
      value.dtype == DType::Bool || (bytes != 4 && bytes != 8 && bytes != 16))
    return false;
  const Dim to = known(store.offset), from = known(value.index);
  const auto all = all_lanes_text(value.guards);
  if (!is_contiguous(to) || !is_contiguous(from) || !all ||
      aligned_text(store.buffer, at_lane(to, 0), "") != "true")
    return false;
  const std::string type = scalar_type(value.dtype), target = fresh("p"), source = fresh("p");
  line("{} *const {} = {} + {};", type, target, storage(store.buffer).base, dim(to, 0));
  line("const {} *const {} = {} + {};", type, source, storage(value.buffer).base, dim(from, 0));
  const std::string aligned = aligned_text(value.buffer, at_lane(from, 0), source);
  const bool by_lane = varies(value.guards);
  const std::string whole = all->empty() || by_lane ? "true" : *all;
  const std::string condition = by_lane ? aligned + " && " + *all : aligned;
  if (aligned != "false") {
    line("{}copy_ahead<{}>({}, {}, {});",
         condition == "true" ? "" : fmt::format("if ({}) ", condition), bytes, target, source,
         whole);
  }
  if (condition == "true") return true;
  if (value.guards.empty()) {
    line("{}copy_elements<{}>({}, {});", aligned == "false" ? "" : "else ", lane_count_, target,
         source);
    return true;
  }
  open(aligned == "false" ? "" : "else");
  for (int64_t lane = 0; lane < lane_count_; ++lane) {
    const std::string holds = guard_text(value.guards, lane);
    line("{0}[{1}] = {2}{3}[{1}]{4};", target, lane, holds.empty() ? "" : holds + " ? ", source,
         holds.empty() ? "" : " : 0");
  }
  close();
  return true;
}

}  // namespace tenon::codegen::cuda
