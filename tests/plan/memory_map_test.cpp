// The memory map of a small program, against one written by hand.
#include "plan/memory_map.h"

#include <gtest/gtest.h>

#include "plan/plan_arena.h"

namespace tenon::plan {
namespace {

using program::BufferKind;
using program::Step;

Step make_step(std::string kind, std::vector<int> reads, int writes) {
  Step step;
  for (const int index : reads) step.buffers.push_back({BufferKind::Arena, index});
  step.writes.assign(step.buffers.size(), false);
  step.buffers.push_back({BufferKind::Arena, writes});
  step.writes.push_back(true);
  step.origin = "of " + kind;
  step.kind = std::move(kind);
  return step;
}

// a: 128 bytes per row, lives 0..1; b: 64 fixed, 1..2; c: 128 per row, 2..3, where a was; d is the
// second half of c's first row.
TEST(MemoryMap, SaysWhatLivesWhereAndWhen) {
  program::Program program;
  const Dim rows(sym::batch());
  program.symbols = {sym::batch()};
  program.arena = {{rows * 128}, {Dim(64)}, {rows * 128}, {Dim(64)}};
  program.arena[3].view = program::View{{BufferKind::Arena, 2}, Dim(64)};
  program.packed = {{1500}};
  program.steps = {make_step("gather", {}, 0), make_step("reduce", {0}, 1),
                   make_step("expand", {1}, 2)};
  program.outputs.push_back({});
  Step last;
  last.kind = "copy";
  last.origin = "of copy";
  last.buffers = {{BufferKind::Arena, 3}, {BufferKind::Output, 0}};
  last.writes = {false, true};
  program.steps.push_back(last);
  plan_arena(program);
  EXPECT_EQ(memory_map(program), R"(sizes at batch = 64, alignment 64
  arena: 8.3 KB = batch*128 + 64
  without sharing: 16.4 KB = batch*256 + 64
  saved: 8.2 KB = batch*128
  buffers that took memory another one had before: 1
  parameters: 0 bytes
  packed weights: 1.5 KB
slot 0: 8.2 KB, offset 0, size batch*128
  0..1  arena 0, batch*128 bytes  # of gather
  2..3  arena 2, batch*128 bytes  # of expand
slot 1: 64 bytes, offset batch*128, size 64
  1..2  arena 1, 64 bytes  # of reduce
arena 3 is arena 2 from byte 64 on
moments
  0 gather  # of gather
  1 reduce  # of reduce
  2 expand  # of expand
  3 copy  # of copy
)");
}

}  // namespace
}  // namespace tenon::plan
