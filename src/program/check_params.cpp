// See check_params.h.
#include "program/check_params.h"

namespace tenon::program {

Status check_params(std::span<const ParamSlot* const> slots, int threads) {
  std::vector<const CheckedBytes*> unchecked;
  for (const ParamSlot* slot : slots) {
    if (slot->check) unchecked.push_back(slot->check.get());
  }
  const CheckedBytes* damaged = find_damaged(unchecked, threads);
  if (!damaged) return {};
  for (const ParamSlot* slot : slots) {
    if (slot->check.get() == damaged)
      return user_error("[{}] parameter \"{}\" is damaged: its digest is another", damaged->file(),
                        slot->name);
  }
  return {};
}

Status check_params(const Program& program, int threads) {
  std::vector<const ParamSlot*> slots;
  for (const ParamSlot& slot : program.params) slots.push_back(&slot);
  return check_params(slots, threads);
}

}  // namespace tenon::program
