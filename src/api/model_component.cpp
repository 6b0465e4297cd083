#include "tenon/model_component.h"

#include <iterator>

#include "base/error.h"
#include "base/hash.h"

namespace tenon {
namespace {

constexpr std::string_view kPhases[] = {"prefill", "decode", "encoder"};
constexpr int64_t kAbsent = -1;

}  // namespace

std::string_view to_string(ModelPhase phase) { return kPhases[static_cast<size_t>(phase)]; }

DimBinding ModelComponent::dim_binding() const {
  if (variant.phase == ModelPhase::Encoder && variant.past)
    throw user_error("[ModelComponent] an encoder has no past, the variant says {}", *variant.past);
  DimBinding binding = DimBinding::batch_seq(variant.batch, variant.seq);
  if (!variant.past) return binding;
  return {{"batch", variant.batch}, {"seq", variant.seq}, {"past", *variant.past}};
}

uint64_t ModelComponent::cache_key() const {
  Hasher hasher;
  hasher.text("component").number(variant.batch).number(variant.seq);
  hasher.number(variant.past.value_or(kAbsent)).text(to_string(variant.phase));
  hasher.number(dispatch ? static_cast<int64_t>(*dispatch) : kAbsent);
  return hasher.finish().prefix();
}

}  // namespace tenon
