// A program that has something of everything an artifact stores: weights and constants, views,
// symbols with bounds, a step in place, a define, a branch and a loop with bodies.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "program/program.h"
#include "program/verify.h"

namespace tenon::program {

inline std::shared_ptr<const Code> some_code(const char* name, size_t bytes) {
  auto code = std::make_shared<Code>();
  code->name = name;
  for (size_t i = 0; i < bytes; ++i) code->bytes.push_back(static_cast<std::byte>(i * 37));
  code->entry = 3;
  code->digest = code_digest(code->bytes);
  return code;
}

inline IoSlot dense_slot(const std::string& name, const TensorType& type) {
  return {name, type, type.shape.strides(), type.shape.dims()};
}

// Each of the arena's buffers in a slot of its own, one after the other.
inline void plan_simply(Program& program) {
  Dim bytes = 0;
  for (ArenaBuffer& buffer : program.arena) {
    if (buffer.view) continue;
    buffer.slot = static_cast<int>(program.plan.slot_bytes.size());
    program.plan.slot_offsets.push_back(bytes);
    program.plan.slot_bytes.push_back(round_up(buffer.bytes, 64));
    program.plan.slot_stages.push_back(0);
    bytes = bytes + program.plan.slot_bytes.back();
  }
  program.plan.stage_bytes.assign(program.host_steps.size() + 1, 0);
  program.plan.stage_bytes[0] = bytes;
  program.plan.bytes = program.plan.unshared_bytes = bytes;
}

// inputs -> outputs, all written by one step.
inline std::shared_ptr<const Program> some_body(std::vector<TensorType> inputs,
                                                std::vector<TensorType> outputs,
                                                std::shared_ptr<const Code> code) {
  auto body = std::make_shared<Program>();
  body->given = {Symbol("n", {1, 64})};
  body->code = {std::move(code)};
  Step step{.kind = "elementwise", .origin = "body"};
  for (const TensorType& type : inputs) {
    step.buffers.push_back({BufferKind::Input, static_cast<int>(body->inputs.size())});
    step.writes.push_back(false);
    body->inputs.push_back(dense_slot("i" + std::to_string(body->inputs.size()), type));
  }
  for (const TensorType& type : outputs) {
    step.buffers.push_back({BufferKind::Output, static_cast<int>(body->outputs.size())});
    step.writes.push_back(true);
    body->outputs.push_back(dense_slot("o" + std::to_string(body->outputs.size()), type));
  }
  body->steps = {step};
  plan_simply(*body);
  return body;
}

inline Program some_program() {
  static const std::vector<float> kWeights = {1, -2, 3.5F, 4};
  const Symbol n("n", {1, 64}), count("odd \"name\"", {0, 100});
  const TensorType rows{{n, 4}, DType::F32}, scalar{{}, DType::Bool}, trips{{}, DType::I64},
      one{{1}, DType::I64}, late{{count}, DType::F32};
  const auto shared = some_code("shared", 70);
  Program p;
  p.cpu.isa = CpuIsa::Avx2;
  p.symbols = {n};
  p.constraints = {{Constraint::Kind::AtMost, Dim(n) * 4, 200, "[reshape] x"}};
  p.inputs = {dense_slot("x", rows), dense_slot("go", scalar), dense_slot("m", trips)};
  p.outputs = {dense_slot("y", rows), dense_slot("z", late)};
  p.params = {{"w", {{4}, DType::F32}, std::as_bytes(std::span(kWeights)), nullptr},
              {"set later", {{2, 2}, DType::F16}, {}, nullptr}};
  p.constants = {{one, std::vector<std::byte>(8, std::byte{7})}};
  p.packed = {{256}};
  // 0: rows, 1: a view of it, 2, 3: of the branch and the loop, 4: the late output
  p.arena = {{rows.bytes()},
             {Dim(16), -1, View{{BufferKind::Arena, 0}, 0}},
             {rows.bytes()},
             {rows.bytes()},
             {Dim(400)}};
  p.code = {some_code("first", 100), shared};
  p.prologue = {{1, {{BufferKind::Param, 0}, {BufferKind::Packed, 0}}, {false, true}}};
  p.steps = {{.code = 0,
              .buffers = {{BufferKind::Input, 0}, {BufferKind::Packed, 0}, {BufferKind::Arena, 0}},
              .writes = {false, false, true},
              .dims = {n, floordiv(Dim(n) + 3, 4), min(Dim(n), Dim(7))},
              .grid = n,
              .scratch_bytes = Dim(n) * 64,
              .flops = Dim(n) * Dim(n) * 8,
              .bytes = Dim(n) * 32,
              .arithmetic = Arithmetic::Bf16,
              .kind = "linear",
              .origin = "/layer.0/MatMul"},
             {.code = 1,
              .buffers = {{BufferKind::Arena, 0}, {BufferKind::Arena, 1}, {BufferKind::Output, 0}},
              .writes = {false, false, true},
              .kind = "elementwise",
              .origin = "copy"},
             {.code = 1,
              .buffers = {{BufferKind::Constant, 0}, {BufferKind::Arena, 4}},
              .writes = {false, true},
              .kind = "elementwise",
              .origin = "late",
              .with_previous = true}};
  const auto then = some_body({rows}, {rows}, shared);
  const auto otherwise = some_body({rows}, {rows}, some_code("else", 20));
  const auto body = some_body({trips, scalar, rows}, {scalar, rows}, shared);
  p.host_steps = {{.kind = HostKind::Define,
                   .before = 1,
                   .operands = {{{BufferKind::Constant, 0}, one}},
                   .symbols = {count},
                   .origin = "[define]"},
                  {.kind = HostKind::If,
                   .before = 1,
                   .operands = {{{BufferKind::Input, 1}, scalar},
                                {{BufferKind::Arena, 0}, rows},
                                {{BufferKind::Arena, 0}, rows}},
                   .results = {{{BufferKind::Arena, 2}, rows}},
                   .bodies = {then, otherwise},
                   .origin = "[if]"},
                  {.kind = HostKind::Loop,
                   .before = 1,
                   .operands = {{{BufferKind::Input, 2}, trips},
                                {{BufferKind::Input, 1}, scalar},
                                {{BufferKind::Arena, 2}, rows}},
                   .results = {{{BufferKind::Arena, 3}, rows}},
                   .bodies = {body},
                   .carried = 1,
                   .origin = "[loop]"}};
  p.outputs[1].late = 4;
  plan_simply(p);
  p.arena[1].slot = p.arena[0].slot;
  return p;
}

}  // namespace tenon::program
