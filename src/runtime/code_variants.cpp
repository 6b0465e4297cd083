// See code_variants.h.
#include "runtime/code_variants.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace tenon::runtime {
namespace {

// FNV-1a by words, the upper bits mixed into the lower ones.
uint64_t hash_of(std::span<const int64_t> values) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const int64_t value : values) {
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x100000001b3;
    hash ^= hash >> 29;
  }
  return hash * 0x9e3779b97f4a7c15;
}

}  // namespace

std::shared_ptr<const CodeVariants::Table> CodeVariants::table() const {
  const std::lock_guard lock(mutex_);
  return table_;
}

void CodeVariants::add(std::vector<int64_t> values, std::shared_ptr<const LoadedCode> code) {
  if (most_ <= 0) return;
  const std::lock_guard lock(mutex_);
  auto table = std::make_shared<Table>(*table_);
  std::erase_if(*table, [&](const auto& variant) { return variant->values == values; });
  while (table->size() >= static_cast<size_t>(most_)) {
    const auto oldest = std::ranges::min_element(*table, {}, [](const auto& variant) {
      return variant->used.load(std::memory_order_relaxed);
    });
    count_anew((*oldest)->values);
    table->erase(oldest);
  }
  auto variant = std::make_shared<Variant>();
  variant->values = std::move(values);
  variant->code = std::move(code);
  variant->used = version_.load();
  table->push_back(std::move(variant));
  table_ = std::move(table);
  version_.fetch_add(1, std::memory_order_release);
}

void CodeVariants::count_anew(std::span<const int64_t> values) { counts_.forget(hash_of(values)); }

void CodeVariants::count_run(std::span<const int64_t> values, const StepList& steps) noexcept {
  if (counts_.add(hash_of(values)) != after_) return;
  try {
    ask(values, steps);
  } catch (const std::exception& error) {  // the run itself lacks nothing
    log(LogLevel::Warning, "[specialize] {}", error.what());
  }
}

std::shared_ptr<const LoadedCode> ChosenVariant::choose(std::span<const int64_t> values) {
  if (!all_) return nullptr;
  chosen_ = nullptr;
  if (is_stale()) {
    version_ = all_->version();
    table_ = all_->table();  // of this version or a later one
  }
  const auto found = std::ranges::find_if(
      *table_, [&](const auto& variant) { return std::ranges::equal(variant->values, values); });
  if (found == table_->end()) return nullptr;
  chosen_ = found->get();
  return chosen_->code;
}

// Nothing that others read is written while the table stays the same.
void ChosenVariant::note_run(std::span<const int64_t> values, const StepList& steps) {
  if (!all_) return;
  if (!chosen_) return all_->count_run(values, steps);
  if (chosen_->used.load(std::memory_order_relaxed) != version_)
    chosen_->used.store(version_, std::memory_order_relaxed);
}

}  // namespace tenon::runtime
