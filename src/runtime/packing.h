// What a program's prologue makes of its parameters, in units that are made apart from each other:
// packed buffers, and the steps that write them. A unit's recipe says all that its contents depend
// on, so that programs with equal recipes can share it.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "program/program.h"
#include "runtime/device.h"
#include "runtime/weight_pool.h"

namespace tenon::runtime {

class Packing {
 public:
  // `program` must outlive it.
  explicit Packing(const program::Program& program);

  // One per unit. `params` are the recipes of the parameters' values.
  std::vector<WeightRecipe> recipes(const LoadedCode& code, std::span<const Digest> params) const;
  // Those that fill these units, in order; what they read of other units must be filled.
  std::vector<program::Step> steps_for(const std::vector<bool>& units) const;

  // Where a packed buffer lies: in which unit, and how many bytes from its beginning.
  struct Place {
    int unit = 0;
    int64_t offset = 0;
  };
  Place place(int packed) const { return places_[static_cast<size_t>(packed)]; }
  int64_t bytes() const { return bytes_; }

 private:
  // Units are sets of nodes: the packed buffers, then those of the arena.
  int node(const program::BufferRef& ref) const;  // -1: neither
  int root(int node) const;
  void unite(const program::Step& step);
  void number_units();
  void place_nodes();
  void add_step(const program::Step& step, const LoadedCode& code, std::span<const Digest> params,
                std::vector<WeightRecipe>& units) const;
  void add_buffer(const program::BufferRef& ref, std::span<const Digest> params,
                  std::span<const WeightRecipe> units, Hasher& to, WeightRecipe& recipe) const;

  const program::Program* program_;
  std::vector<int> parents_;     // of nodes, in trees
  std::vector<int> step_units_;  // of the prologue's steps
  std::vector<int64_t> unit_bytes_;
  std::vector<Place> places_;  // of nodes; in the arena, which one of the unit's it is
  int64_t bytes_ = 0;
};

}  // namespace tenon::runtime
