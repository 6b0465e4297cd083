// GpuScheduler: what the kinds of GPU schedules share. schedule.cpp finds the structure and picks
// the kind: each.cpp has a thread per iteration (any kernel), rows.cpp threads that share a row
// (norms, softmax, reductions, attention), contraction.cpp tiles of a matrix product.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "schedule/gpu/schedule.h"
#include "schedule/nest.h"
#include "schedule/serial_reductions.h"

namespace tenon::schedule {

class GpuScheduler {
 public:
  GpuScheduler(const kernel::Kernel& source, const GpuTarget& target);
  Scheduled run();

 private:
  kernel::Block scheduled(const Nest& nest);

  // each.cpp
  kernel::Block schedule_each(const Nest& nest);
  std::optional<kernel::Block> schedule_vectors(const Nest& nest);
  kernel::Block in_order(const kernel::Block& body);  // by one thread
  kernel::ExprRef in_order(const kernel::ExprRef& value, kernel::Block& before);

  // rows.cpp
  bool shares_rows(const Nest& nest) const;
  kernel::Block schedule_rows(const Nest& nest);

  // contraction.cpp
  struct Contraction {
    std::vector<kernel::Loop> outer;  // of products that have nothing to do with each other
    kernel::Loop row, col;
    const kernel::Store* store;
    kernel::ExprRef reduce;

    Symbol k() const { return reduce->range[0]; }
    const Dim& depth() const { return reduce->bound; }
  };
  std::optional<Contraction> find_contraction(const Nest& nest) const;
  kernel::Block schedule_contraction(Contraction contraction);
  kernel::ExprRef packed(const Contraction& contraction, int operand, const kernel::Loop& along);
  std::optional<DType> for_tensor_cores(const kernel::Expr& reduce) const;

  // What every kind needs.
  kernel::Block grid(const Dim& items, int64_t threads, const Symbol& block, kernel::Block body);
  kernel::Stmt once_if(const Dim& positive, kernel::Block body);  // where it is > 0
  Symbol fresh(const std::string& stem, const Dim& extent) { return fresh_(stem, extent); }
  Around around();
  kernel::Buffer& buffer(int index) { return kernel_.buffers[static_cast<size_t>(index)]; }
  const kernel::Buffer& buffer(int index) const {
    return kernel_.buffers[static_cast<size_t>(index)];
  }
  bool is_local(int index) const { return buffer(index).storage != kernel::Storage::Global; }

  friend class RowPhases;

  const kernel::Kernel& source_;
  const GpuTarget& target_;
  kernel::Kernel kernel_;
  std::vector<kernel::Kernel> packs_;
  FreshSymbols fresh_;
};

// The values of loop symbols where one counter runs over all their iterations, the last loop
// fastest.
SymbolMap decoded(const std::vector<kernel::Loop>& loops, const Dim& counter);
Dim iterations(const std::vector<kernel::Loop>& loops);

// Accesses to a buffer moved by so many elements.
kernel::Block moved(const kernel::Block& block, const std::function<Dim(int buffer)>& by);

// How many elements a thread moves at once where the widest has these bytes.
int64_t lanes_for(int64_t widest_bytes);
// The widest global element that a block of stores touches along `symbol`; 0 where some access
// makes moving several at once useless or wrong.
int64_t widest_along(const kernel::Kernel& kernel, const kernel::Block& stores,
                     const Symbol& symbol);

// Of a symbol, where only the shape of the schedule depends on it.
int64_t guessed(const Dim& extent);

}  // namespace tenon::schedule
