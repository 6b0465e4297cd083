// ComponentHandle: a component of a model that is compiled, or will be when it is first used.
//
//   handle->run(inputs);  // compiles it, where that is still to be done
#pragma once

#include <memory>

#include "tenon/compiled_handle.h"

namespace tenon {

// Cheap to copy: copies are the same one, and any thread may have one. What it compiled it keeps,
// also when the pipeline lets the entry go, or is gone itself.
class ComponentHandle {
 public:
  bool is_compiled() const;
  // Compiled once, however many threads ask. An exception leaves it to be compiled by the next one.
  CompiledHandle get() const;
  CompiledHandle operator->() const { return get(); }

 private:
  friend class ModelCompilePipeline;
  struct State;
  explicit ComponentHandle(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace tenon
