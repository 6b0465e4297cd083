// See add_pack.h.
#include "schedule/add_pack.h"

#include <map>

namespace tenon::schedule {

using namespace kernel;

bool is_constant(const Kernel& kernel, const ExprRef& value) {
  bool constant = true;
  for_each(value, [&](const Expr& e) {
    if (e.op == Op::Load) constant &= kernel.buffers[static_cast<size_t>(e.buffer)].constant;
  });
  return constant;
}

int add_pack(Kernel& kernel, std::vector<Kernel>& packs, const Pack& pack) {
  Kernel filling;
  filling.name = kernel.name + "_pack";
  std::map<int, int> renumbered;
  const ExprRef own = transform(pack.value, [&](Expr& copy) -> ExprRef {
    if (copy.op != Op::Load) return nullptr;
    const auto [it, added] = renumbered.try_emplace(copy.buffer, 0);
    if (added) it->second = filling.add_buffer(kernel.buffers[static_cast<size_t>(copy.buffer)]);
    copy.buffer = it->second;
    return nullptr;
  });
  Buffer filled = {.name = pack.name,
                   .dtype = pack.value->dtype,
                   .elements = pack.elements,
                   .source = Source::Packed,
                   .source_index = static_cast<int>(packs.size()),
                   .constant = is_constant(kernel, pack.value)};
  const int here = kernel.add_buffer(filled);
  filled.written = true;
  Block body = {store(filling.add_buffer(filled), pack.offset, own)};
  for (size_t i = pack.loops.size(); i-- > 0;) {
    body = {loop(LoopKind::Parallel, pack.loops[i].symbol, pack.loops[i].extent, body)};
  }
  filling.body = std::move(body);
  filling.dims = kernel.dims;
  filling.bytes = pack.elements * (2 * size_of(pack.value->dtype));
  packs.push_back(std::move(filling));
  return here;
}

}  // namespace tenon::schedule
