// See packing.h. What one step writes belongs to one unit, and so does what it reads from the
// arena: that is gone when the prologue has ended.
#include "runtime/packing.h"

#include <algorithm>
#include <numeric>

namespace tenon::runtime {

using program::BufferKind;
using program::BufferRef;
using program::Step;

namespace {

void add(Hasher& to, const Digest& digest) { to.bytes(std::as_bytes(std::span(digest.bytes))); }

void add_sources(const std::vector<std::shared_ptr<const void>>& from, WeightRecipe& to) {
  for (const auto& source : from) {
    if (source && std::ranges::find(to.sources, source) == to.sources.end())
      to.sources.push_back(source);
  }
}

}  // namespace

Packing::Packing(const program::Program& program) : program_(&program) {
  parents_.resize(program.packed.size() + program.arena.size());
  std::iota(parents_.begin(), parents_.end(), 0);
  for (const Step& step : program.prologue) unite(step);
  number_units();
  place_nodes();
}

int Packing::node(const BufferRef& ref) const {
  const BufferRef owner = root_of(*program_, ref);
  if (owner.kind == BufferKind::Packed) return owner.index;
  if (owner.kind == BufferKind::Arena)
    return static_cast<int>(program_->packed.size()) + owner.index;
  return -1;
}

int Packing::root(int node) const {
  while (parents_[static_cast<size_t>(node)] != node) node = parents_[static_cast<size_t>(node)];
  return node;
}

void Packing::unite(const Step& step) {
  int first = -1;
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    const int each = node(step.buffers[i]);
    const bool in_arena = each >= static_cast<int>(program_->packed.size());
    if (each < 0 || !(step.writes[i] || in_arena)) continue;
    if (first < 0) first = root(each);
    parents_[static_cast<size_t>(root(each))] = first;
  }
}

// A packed buffer that nobody writes is a unit too; one of the arena is none.
void Packing::number_units() {
  places_.assign(parents_.size(), {.unit = -1});
  int count = 0;
  const auto unit_of = [&](int node) -> int& {
    int& unit = places_[static_cast<size_t>(root(node))].unit;
    if (unit < 0) unit = count++;
    return unit;
  };
  for (const Step& step : program_->prologue) {
    int& unit = step_units_.emplace_back(-1);
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      if (step.writes[i]) unit = unit_of(node(step.buffers[i]));
    }
  }
  for (size_t i = 0; i < program_->packed.size(); ++i) unit_of(static_cast<int>(i));
  for (size_t i = 0; i < places_.size(); ++i)
    places_[i].unit = places_[static_cast<size_t>(root(static_cast<int>(i)))].unit;
  unit_bytes_.assign(static_cast<size_t>(count), 0);
}

void Packing::place_nodes() {
  std::vector<int64_t> in_arena(unit_bytes_.size(), 0);
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].unit < 0) continue;
    const auto unit = static_cast<size_t>(places_[i].unit);
    if (i >= program_->packed.size()) {
      places_[i].offset = in_arena[unit]++;
      continue;
    }
    places_[i].offset = unit_bytes_[unit];
    const int64_t bytes = program_->packed[i].bytes;
    unit_bytes_[unit] += (bytes + kWeightAlignment - 1) / kWeightAlignment * kWeightAlignment;
  }
  bytes_ = std::accumulate(unit_bytes_.begin(), unit_bytes_.end(), int64_t{0});
}

// Addresses say nothing: what lies there counts, and where in it.
void Packing::add_buffer(const BufferRef& ref, std::span<const Digest> params,
                         std::span<const WeightRecipe> units, Hasher& to,
                         WeightRecipe& recipe) const {
  const BufferRef owner = root_of(*program_, ref);
  const auto index = static_cast<size_t>(owner.index);
  to.number(static_cast<int64_t>(owner.kind));
  if (ref != owner)
    to.text(program_->arena[static_cast<size_t>(ref.index)].view->offset.to_string());
  if (owner.kind == BufferKind::Param) {
    add(to, params[index]);
    add_sources({program_->params[index].owner}, recipe);
  } else if (owner.kind == BufferKind::Constant) {
    to.number(static_cast<int64_t>(program_->constants[index].bytes.size()));
    to.bytes(program_->constants[index].bytes);
  } else {
    const Place& place = places_[static_cast<size_t>(node(ref))];
    const WeightRecipe& unit = units[static_cast<size_t>(place.unit)];
    add(to, unit.digest);  // of what it holds by now
    to.number(place.offset);
    if (&unit != &recipe) add_sources(unit.sources, recipe);
  }
}

void Packing::add_step(const Step& step, const LoadedCode& code, std::span<const Digest> params,
                       std::vector<WeightRecipe>& units) const {
  const auto unit = step_units_[static_cast<size_t>(&step - program_->prologue.data())];
  if (unit < 0) return;
  WeightRecipe& recipe = units[static_cast<size_t>(unit)];
  const program::Code& kernel = *program_->code[static_cast<size_t>(step.code)];
  Hasher hasher;
  add(hasher, recipe.digest);
  add(hasher, kernel.digest);
  hasher.number(kernel.entry).number(kernel.threads).number(kernel.shared_bytes);
  hasher.number(static_cast<int64_t>(reinterpret_cast<uintptr_t>(code.stand_in(step.code))));
  hasher.text(step.grid.to_string()).number(static_cast<int64_t>(step.dims.size()));
  for (const Dim& dim : step.dims) hasher.text(dim.to_string());
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    hasher.number(step.writes[i] ? 1 : 0);
    add_buffer(step.buffers[i], params, units, hasher, recipe);
  }
  recipe.digest = hasher.finish();
}

std::vector<WeightRecipe> Packing::recipes(const LoadedCode& code,
                                           std::span<const Digest> params) const {
  std::vector<WeightRecipe> units(unit_bytes_.size());
  for (size_t i = 0; i < units.size(); ++i) {
    units[i].bytes = unit_bytes_[i];
    units[i].digest = Hasher().text("packed").number(unit_bytes_[i]).finish();
  }
  for (const Step& step : program_->prologue) add_step(step, code, params, units);
  return units;
}

// A wave's steps may still run together when some of them are left out.
std::vector<Step> Packing::steps_for(const std::vector<bool>& units) const {
  std::vector<Step> steps;
  bool wave_has_begun = false;
  for (size_t i = 0; i < program_->prologue.size(); ++i) {
    const Step& step = program_->prologue[i];
    wave_has_begun = wave_has_begun && step.with_previous;
    if (step_units_[i] < 0 || !units[static_cast<size_t>(step_units_[i])]) continue;
    steps.push_back(step);
    steps.back().with_previous = wave_has_begun;
    wave_has_begun = true;
  }
  return steps;
}

}  // namespace tenon::runtime
