// Tiles of a product's operands in shared memory: the statements that fill one, by all threads of a
// block, and how its elements are read.
#pragma once

#include "kernel/kernel.h"
#include "schedule/gpu/tile_shape.h"
#include "schedule/nest.h"

namespace tenon::schedule {

class TileStager {
 public:
  // One operand's tile: `outer` of its rows or columns, and k.
  struct Operand {
    kernel::ExprRef value;
    Symbol outer, k;
    Dim extent, depth;
    int64_t size;  // of the tile, along `outer`
  };
  struct Staged {
    kernel::Block fill;
    kernel::ExprRef read;  // an element of the tile, over its symbols
  };

  // `t`: the threads' symbol.
  TileStager(kernel::Kernel& kernel, FreshSymbols& fresh, const TileShape& shape, bool tensor_cores,
             const Symbol& t)
      : kernel_(kernel), fresh_(fresh), shape_(shape), tensor_(tensor_cores), t_(t) {}

  // `first` of the operand's rows or columns, `step` of k.
  Staged stage(const char* name, const Operand& operand, const Dim& first, const Dim& step,
               const Symbol& in_outer, const Symbol& in_k);

 private:
  kernel::Kernel& kernel_;
  FreshSymbols& fresh_;
  const TileShape& shape_;
  bool tensor_;
  Symbol t_;
};

}  // namespace tenon::schedule
