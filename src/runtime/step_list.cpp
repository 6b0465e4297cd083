// See step_list.h.
#include "runtime/step_list.h"

#include "program/print.h"
#include "program/work.h"

namespace tenon::runtime {

Result<StepList> StepList::make(const program::Program& program,
                                std::span<const program::Step> steps, const Variables& variables) {
  StepList list;
  list.program_ = &program;
  list.steps_ = steps;
  list.dims_ = DimTable(variables);
  for (const program::Step& step : steps) {
    list.bind(step);
    if (!list.dims_.unknown_symbol().empty()) {
      return internal_error(
          "[program] step '{} {}' depends on {}, which is not a symbol of any input", step.kind,
          step.origin, list.dims_.unknown_symbol());
    }
  }
  list.dim_values_.resize(list.dim_positions_.size());
  return list;
}

void StepList::bind(const program::Step& step) {
  positions_.push_back({.pointers = static_cast<int>(pointers_.size()),
                        .dims = static_cast<int>(dim_positions_.size()),
                        .grid = dims_.add(step.grid),
                        .scratch = dims_.add(step.scratch_bytes),
                        .flops = dims_.add(step.flops),
                        .bytes = dims_.add(step.bytes)});
  for (const Dim& dim : step.dims) dim_positions_.push_back(dims_.add(dim));
  for (const program::BufferRef& ref : step.buffers) {
    references_[static_cast<size_t>(root_of(*program_, ref).kind)].push_back(
        {static_cast<int>(pointers_.size()), ref});
    pointers_.push_back(nullptr);
  }
}

double StepList::microseconds(int index) const {
  return program::microseconds(static_cast<double>(dims_[at(index).flops]),
                               static_cast<double>(dims_[at(index).bytes]));
}

Status StepList::resolve(std::span<const int64_t> variables) {
  if (!dims_.evaluate(variables))
    return user_error("the inputs' extents are too large to compute with");
  for (size_t i = 0; i < dim_positions_.size(); ++i) dim_values_[i] = dims_[dim_positions_[i]];
  flops_ = 0;
  for (const Positions& positions : positions_) {
    if (__builtin_add_overflow(flops_, dims_[positions.flops], &flops_))
      return user_error("the inputs' extents are too large to compute with");
  }
  return {};
}

Error StepList::fault(int index, std::span<const int64_t> words) const {
  const program::Step& source = step(index);
  const int64_t position = words[0] - 1;
  const bool known = position >= 0 && position < static_cast<int64_t>(source.buffers.size());
  const std::string origin = source.origin.empty() ? "" : source.origin + ": ";
  return user_error("[{}] {}index {} lies outside 0..{}{}", source.kind, origin, words[1],
                    words[2] - 1,
                    known ? " of " + program::describe(*program_, source.buffers[position]) : "");
}

}  // namespace tenon::runtime
