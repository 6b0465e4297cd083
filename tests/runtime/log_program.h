// A program with a state, of hand-written kernels: log f32[batch, past] grows by x f32[batch] in
// each run, and y f32[batch] is the sum of its rows then.
#pragma once

#include <memory>
#include <vector>

#include "program/program.h"
#include "tests/runtime/test_program.h"

namespace tenon::runtime {

inline constexpr int64_t kLogCapacity = 8;

// Buffers: x, log. One item is one row, of length dims[0] before and of capacity dims[1].
inline void append_rows(void* const* buffers, const int64_t* dims, void*, int64_t begin,
                        int64_t end, int64_t*) {
  const auto* x = static_cast<const float*>(buffers[0]);
  auto* log = static_cast<float*>(buffers[1]);
  for (int64_t i = begin; i < end; ++i) log[i * dims[1] + dims[0]] = x[i];
}

// Buffers: log, y. A sum above 1000 is reported as an index.
inline void sum_rows(void* const* buffers, const int64_t* dims, void*, int64_t begin, int64_t end,
                     int64_t* fault) {
  const auto* log = static_cast<const float*>(buffers[0]);
  auto* y = static_cast<float*>(buffers[1]);
  for (int64_t i = begin; i < end; ++i) {
    y[i] = 0;
    for (int64_t j = 0; j <= dims[0]; ++j) y[i] += log[i * dims[1] + j];
    if (y[i] <= 1000) continue;
    fault[0] = 1;
    fault[1] = static_cast<int64_t>(y[i]);
    fault[2] = 1000;
  }
}

inline std::vector<program::KernelFunction> log_functions() { return {append_rows, sum_rows}; }

// `scratch`: of the sum, per element of the log. `late`: x is an output, too, as if only the run
// knew its extent.
inline std::shared_ptr<Program> log_program(int64_t scratch = 0, bool late = false,
                                            int64_t capacity = kLogCapacity) {
  auto p = std::make_shared<Program>();
  const Symbol batch("batch"), past("past", {0, capacity - 1});
  const Dim rows = batch, length = past;
  p->symbols = {batch, past};
  p->inputs = {{"log", {{rows, length}, DType::F32}, {capacity, 1}, {rows, capacity}},
               {"x", {{rows}, DType::F32}, {1}, {rows}}};
  p->inputs[0].state = {.axis = 1, .capacity = capacity, .length = length + 1};
  p->outputs = {{"y", {{rows}, DType::F32}, {1}, {rows}}};
  p->code = {empty_code("append"), empty_code("sum")};
  p->plan.stage_bytes = {Dim(0)};
  const program::BufferRef log{BufferKind::Input, 0}, x{BufferKind::Input, 1};
  const auto step = [&](int code, const program::BufferRef& from, const program::BufferRef& to,
                        std::vector<Dim> dims, const Dim& needs, const char* name) {
    p->steps.push_back({.code = code,
                        .buffers = {from, to},
                        .writes = {false, true},
                        .dims = std::move(dims),
                        .grid = rows,
                        .scratch_bytes = needs,
                        .kind = "elementwise",
                        .origin = name});
  };
  step(0, x, log, {length, capacity}, 0, "append");
  if (late) {
    p->outputs.push_back({"late", {{rows}, DType::F32}, {1}, {rows}, 0});
    p->arena = {{rows * 4, 0}};
    p->plan.slot_bytes = p->plan.stage_bytes = {round_up(rows * 4, 64)};
    p->plan.slot_offsets = {Dim(0)};
    p->plan.slot_stages = {0};
    p->plan.bytes = p->plan.slot_bytes[0];
    step(0, x, {BufferKind::Arena, 0}, {0, 1}, 0, "keep");
  }
  step(1, log, {BufferKind::Output, 0}, {length, capacity}, (length + 1) * scratch, "sum");
  return p;
}

}  // namespace tenon::runtime
