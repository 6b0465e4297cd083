// ParamStore: values of parameters that several compiled graphs share.
//
//   tenon::ParamStore weights({{"w", tenon::view(w, {384, 1536})}});
//   prefill.use_params(weights);
//   decode.use_params(weights);
//   weights.set("w", tenon::view(better, {384, 1536}));    // both, from the next run of each
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tenon/dtype.h"
#include "tenon/tensor.h"

namespace tenon {

// Cheap to copy: copies are the same store. Several threads may use it at once, also while graphs
// that have it run: a run takes the values that are there when it begins, each as a whole.
class ParamStore {
 public:
  ParamStore();
  explicit ParamStore(const NamedInputs& values);

  // Copies a dense value. A name that is there keeps its dtype and its size, and its shape where
  // both have one: another is an Error.
  void set(const std::string& name, const TensorView& value);
  void set_typed(const std::string& name, std::span<const std::byte> bytes, DType dtype);

  bool contains(const std::string& name) const;
  std::vector<std::string> names() const;  // sorted
  size_t bytes() const;                    // of all values

 private:
  friend class CompiledGraph;
  friend struct ModelTemplate;  // what a cache lowers before anything is compiled
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tenon
