// Memory of a compiled graph's own for the outputs of a run, one after the other. It grows to its
// high-water mark, so that a shape that ran before allocates nothing.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "compiled/active_rows.h"
#include "runtime/executor.h"
#include "tenon/compiled_graph.h"

namespace tenon::compiled {

class OutputBlock {
 public:
  explicit OutputBlock(const program::Program& program);  // which must outlive it

  // Another program for the same outputs.
  void serve(const program::Program& program) { program_ = &program; }

  // Binds nothing: the executor has bound its inputs. Begins a run, outputs to this memory: all
  // rows of a bucket lie there, the active ones are written, the others stay what they were, or
  // zero where the outputs did not lie like this in the last run.
  Status begin(runtime::Executor& executor, const ActiveRows& rows,
               const runtime::RunOptions& options);
  // Waits for what was begun; the outputs of the last run are here.
  Status finish(runtime::Executor& executor);
  Status run(runtime::Executor& executor, const ActiveRows& rows,
             const runtime::RunOptions& options);
  void forget() { filled_ = false; }            // the last run's outputs are elsewhere
  void forget_rows() { forgets_rows_ = true; }  // past the active ones: zero when the next run ends

  bool has_late() const { return has_late_; }  // outputs that are taken when the run has ended
  // Of the last run, if they are here.
  bool filled() const { return filled_; }
  const std::byte* data() const { return block_.data(); }
  const std::vector<OutputSlot>& slots() const { return slots_; }
  const std::vector<TensorView>& views() const { return views_; }

 private:
  Status place(const runtime::Executor& executor, const ActiveRows* rows, bool late);
  Status take_late(runtime::Executor& executor);
  Status make_room(runtime::Executor& executor);
  void point();

  const program::Program* program_;
  runtime::MemoryBlock block_;
  int64_t used_ = 0;
  std::vector<OutputSlot> slots_;
  std::vector<TensorView> views_;
  std::vector<runtime::IoView> targets_;
  bool has_late_ = false;
  bool forgets_rows_ = false;
  bool moved_ = false;  // outputs lie elsewhere than in the last run
  bool filled_ = false;
};

}  // namespace tenon::compiled
