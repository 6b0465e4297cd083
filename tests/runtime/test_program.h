// Programs of hand-written kernels, for tests of the runtime: y = x * 2 + w over [batch, seq], in
// two steps with an arena buffer between them and a packed copy of w that the prologue makes.
#pragma once

#include <memory>
#include <vector>

#include "base/error.h"
#include "program/program.h"

namespace tenon::runtime {

using program::BufferKind;
using program::Program;

// Buffers: x (rows of capacity dims[1], seq = dims[0] elements count), t (dense). One item is one
// row.
inline void double_rows(void* const* buffers, const int64_t* dims, void* scratch, int64_t begin,
                        int64_t end, int64_t*) {
  const auto* x = static_cast<const float*>(buffers[0]);
  auto* t = static_cast<float*>(buffers[1]);
  auto* row = static_cast<float*>(scratch);
  for (int64_t i = begin; i < end; ++i) {
    for (int64_t j = 0; j < dims[0]; ++j) row[j] = x[i * dims[1] + j] * 2;
    for (int64_t j = 0; j < dims[0]; ++j) t[i * dims[0] + j] = row[j];
  }
}

// Buffers: t, packed w (one element), y (rows of capacity dims[1]).
inline void add_weight(void* const* buffers, const int64_t* dims, void*, int64_t begin, int64_t end,
                       int64_t*) {
  const auto* t = static_cast<const float*>(buffers[0]);
  const auto* w = static_cast<const float*>(buffers[1]);
  auto* y = static_cast<float*>(buffers[2]);
  for (int64_t i = begin; i < end; ++i) {
    for (int64_t j = 0; j < dims[0]; ++j) y[i * dims[1] + j] = t[i * dims[0] + j] + w[0];
  }
}

inline void pack_weight(void* const* buffers, const int64_t*, void*, int64_t, int64_t, int64_t*) {
  *static_cast<float*>(buffers[1]) = *static_cast<const float*>(buffers[0]);
}

// Like double_rows, but reports index 7 of an axis of 5 in row 3.
inline void faulty_rows(void* const* buffers, const int64_t* dims, void* scratch, int64_t begin,
                        int64_t end, int64_t* fault) {
  double_rows(buffers, dims, scratch, begin, end, fault);
  if (begin > 3 || end <= 3) return;
  fault[0] = 1;
  fault[1] = 7;
  fault[2] = 5;
}

inline std::shared_ptr<const program::Code> empty_code(const char* name) {
  return std::make_shared<program::Code>(program::Code{name, std::vector<std::byte>(1), 0, {}});
}

inline program::IoSlot io_slot(const std::string& name, const Dim& batch, const Dim& seq) {
  const Symbol capacity(name + ".cap1");
  return {name, {{batch, seq}, DType::F32}, {Dim(capacity), Dim(1)}, {batch, Dim(capacity)}};
}

// The functions that go with it, one per code.
inline std::vector<program::KernelFunction> test_functions() {
  return {double_rows, add_weight, pack_weight};
}

inline std::shared_ptr<Program> test_program(int64_t most_seq = 512,
                                             int64_t flops_per_element = 0) {
  auto p = std::make_shared<Program>();
  const Symbol batch("batch"), seq("seq", {1, most_seq});
  const Dim rows = batch, columns = seq;
  p->symbols = {batch, seq};
  p->inputs = {io_slot("x", rows, columns)};
  p->outputs = {io_slot("y", rows, columns)};
  p->params = {{"w", {{1}, DType::F32}, {}, nullptr}};
  p->packed = {{4}};
  p->arena = {{rows * columns * 4, 0}};
  p->plan.slot_bytes = {round_up(rows * columns * 4, 64)};
  p->plan.slot_offsets = {Dim(0)};
  p->plan.slot_stages = {0};
  p->plan.stage_bytes = p->plan.slot_bytes;
  p->plan.bytes = p->plan.slot_bytes[0];
  p->code = {empty_code("double"), empty_code("add"), empty_code("pack")};
  const Dim flops = rows * columns * flops_per_element;
  p->prologue = {{.code = 2,
                  .buffers = {{BufferKind::Param, 0}, {BufferKind::Packed, 0}},
                  .writes = {false, true},
                  .kind = "pack",
                  .origin = "w"}};
  p->steps = {
      {.code = 0,
       .buffers = {{BufferKind::Input, 0}, {BufferKind::Arena, 0}},
       .writes = {false, true},
       .dims = {columns, Dim(Symbol("x.cap1"))},
       .grid = rows,
       .scratch_bytes = columns * 4,
       .flops = flops,
       .kind = "elementwise",
       .origin = "double"},
      {.code = 1,
       .buffers = {{BufferKind::Arena, 0}, {BufferKind::Packed, 0}, {BufferKind::Output, 0}},
       .writes = {false, false, true},
       .dims = {columns, Dim(Symbol("y.cap1"))},
       .grid = rows,
       .flops = flops,
       .kind = "elementwise",
       .origin = "add"}};
  return p;
}

}  // namespace tenon::runtime
