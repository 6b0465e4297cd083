#include "api/cached_graph.h"

#include <algorithm>

#include "base/error.h"
#include "compiled/as_f32.h"
#include "compiled/impl.h"
#include "tenon/padded_rows.h"

namespace tenon {
namespace {

std::vector<float> as_f32(const TensorView& view, const OutputSlot& slot, const std::byte* block) {
  return compiled::as_f32(view.dtype, {block + slot.offset, static_cast<size_t>(slot.length)});
}

// Whether an axis of that extent is the bucket's: no input has another one.
bool tells_the_bucket(const program::Program& program, const ActiveExtentReport& report) {
  const auto axes_in = [&](const TensorType& type) {
    return std::ranges::count_if(type.shape.dims(),
                                 [&](const Dim& dim) { return dim.is_const(report.upper); });
  };
  int64_t others = 0;
  for (const program::IoSlot& slot : program.inputs) others += axes_in(slot.type);
  for (const ActiveExtentReport::Input& input : report.inputs)
    others -= static_cast<int64_t>(input.axes.size());
  return others == 0;
}

// Of what was computed at full extent: along the only axis of the bucket's extent.
void clear_past(int64_t rows, int64_t upper, const std::vector<int64_t>& shape,
                std::vector<float>& values) {
  if (std::ranges::count(shape, upper) != 1) return;
  const auto axis = std::ranges::find(shape, upper);
  int64_t inner = 1;
  for (auto after = axis + 1; after != shape.end(); ++after) inner *= *after;
  for (auto at = values.begin(); at != values.end(); at += upper * inner)
    std::fill(at + rows * inner, at + upper * inner, 0.0F);
}

}  // namespace

CachedGraph::CachedGraph(CompiledGraph compiled, CompileOptions options)
    : graph(std::move(compiled)), given(std::move(options)), program(graph.impl().program) {}

void CachedGraph::sync() {
  const std::lock_guard lock(mutex);
  graph.impl().settle_unless_used();
}

std::vector<std::vector<float>> CachedGraph::run_rows(int64_t rows, int64_t upper,
                                                      const NamedInputs& inputs,
                                                      std::span<const int64_t> inners) {
  const std::lock_guard lock(mutex);
  CompiledGraph::Impl& impl = graph.impl();
  const CompiledGraph::Impl::Settled settled(impl);
  if (inners.size() > impl.outputs.size())
    throw user_error("[run_padded] row sizes of {} outputs are given, the model has {}",
                     inners.size(), impl.outputs.size());
  impl.serve_bucket(upper);
  struct Active {
    compiled::ActiveRows& of;
    ~Active() { of.clear(); }
  } const active{impl.rows};
  impl.rows.set(rows);
  runtime::Executor& bound = impl.bind(inputs, {});
  impl.block.forget_rows();
  impl.run_into_block(bound, {});
  std::vector<std::vector<float>> outputs;
  for (size_t i = 0; i < impl.outputs.size(); ++i) {
    const TensorView& view = impl.block.views()[i];
    std::vector<float>& values =
        outputs.emplace_back(as_f32(view, impl.block.slots()[i], impl.block.data()));
    if (i < inners.size() && inners[i] != 0) {
      values.resize(sliced_size(values.size(), inners[i], rows));
    } else if (!impl.active.fallback.empty() && tells_the_bucket(*impl.program, impl.active)) {
      clear_past(rows, upper, view.shape, values);
    }
  }
  return outputs;
}

}  // namespace tenon
