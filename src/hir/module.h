// Module: what a HirModule holds. A list of blocks in the order of the calls, and its outputs. Each
// block is lowered when it is added, which infers the types of its results and refuses what does
// not fit; `lower` does the same again, under the policy that is asked for.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hir/block.h"
#include "hir/lowering.h"

namespace tenon::hir {

struct NamedValue {
  std::string name;
  HirValue value;
};

// A block where it stands.
struct Entry {
  Block block;
  std::string origin;
  std::vector<HirValue> results;
};

class Module {
 public:
  // The results. After an Error the module is as it was.
  std::vector<HirValue> add(Block block);
  void set_origin(std::string origin) { origin_ = std::move(origin); }
  void set_outputs(std::vector<NamedValue> outputs);

  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<NamedValue>& outputs() const { return outputs_; }
  bool owns(const HirValue& value) const;
  // How a value is called in texts: %3.
  static int index(const HirValue& value) { return value.index_; }

 private:
  friend graph::Graph lower(const Module& module, FusionPolicy policy);

  void infer_anew();

  std::vector<Entry> entries_;
  std::vector<std::shared_ptr<const TensorType>> types_;  // of every value, by index
  std::vector<NamedValue> outputs_;
  std::string origin_;
  Lowering inferred_;  // what types come from; lower starts anew
};

graph::Graph lower(const Module& module, FusionPolicy policy);
std::string print(const Module& module);
// A block with the types of its operands, for errors: "linear(x: f32[4, 8], w: f32[9, 2])".
std::string describe(const Block& block);

}  // namespace tenon::hir
