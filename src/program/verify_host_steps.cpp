// Host steps fit their bodies: as many operands and results as the executor will look for, of
// dtypes and ranks that it copies between them.
#include "program/verify_host_steps.h"

#include <algorithm>

namespace tenon::program {
namespace {

using Tensor = HostStep::Tensor;

Error wrong(const HostStep& step, const char* what) {
  return internal_error("[program] host step '{}': {}", step.origin, what);
}

// `result` is what the body gives, with `more` axes in front.
bool fits(const TensorType& result, const TensorType& given, int more) {
  return result.dtype == given.dtype && result.shape.rank() == given.shape.rank() + more;
}

Status verify_define(const HostStep& step) {
  if (step.operands.size() != 1 || !step.results.empty())
    return wrong(step, "it takes one operand and gives no result");
  const TensorType& type = step.operands[0].type;
  const auto symbols = static_cast<int64_t>(step.symbols.size());
  if (type.dtype != DType::I64 || prove_le(symbols, type.shape.elements()) != Proof::Yes)
    return wrong(step, "its operand does not hold a value for each symbol");
  return {};
}

bool is_one(const Tensor& tensor, DType dtype) {
  return tensor.type.dtype == dtype && tensor.type.shape.elements().is_const(1);
}

// Each symbol is an extent of a result.
Status verify_symbols(const HostStep& step) {
  for (const Symbol& symbol : step.symbols) {
    const bool found = std::ranges::any_of(step.results, [&](const Tensor& result) {
      return std::ranges::count(result.type.shape.dims(), Dim(symbol)) > 0;
    });
    if (!found) return wrong(step, "a symbol is no extent of its results");
  }
  return {};
}

Status verify_if(const HostStep& step) {
  size_t operands = 1;
  for (const auto& body : step.bodies) {
    operands += body->inputs.size();
    if (body->outputs.size() != step.results.size())
      return wrong(step, "a body gives another number of results");
    for (size_t i = 0; i < step.results.size(); ++i) {
      if (!fits(step.results[i].type, body->outputs[i].type, 0))
        return wrong(step, "a body gives another type of result");
    }
  }
  if (step.carried != 0) return wrong(step, "it carries nothing");
  if (step.operands.size() != operands || !is_one(step.operands[0], DType::Bool))
    return wrong(step, "its operands are not a condition and the inputs of its bodies");
  return verify_symbols(step);
}

Status verify_loop(const HostStep& step) {
  const Program& body = *step.bodies[0];
  const size_t results = step.results.size(), operands = step.operands.size();
  if (step.carried < 0 || static_cast<size_t>(step.carried) > results ||
      body.outputs.size() != results + 1 || body.outputs[0].type.dtype != DType::Bool ||
      !body.outputs[0].type.shape.elements().is_const(1))
    return wrong(step, "its body does not give a condition and its results");
  const auto carried = static_cast<size_t>(step.carried);
  if (operands < 2 + carried || body.inputs.size() != operands ||
      !is_one(step.operands[0], DType::I64) || !is_one(step.operands[1], DType::Bool))
    return wrong(step, "its operands are not a count, a condition and the body's inputs");
  for (size_t i = 0; i < results; ++i) {
    const bool scanned = i >= carried;
    if (!fits(step.results[i].type, body.outputs[1 + i].type, scanned ? 1 : 0) ||
        (!scanned && !fits(step.results[i].type, step.operands[2 + i].type, 0)))
      return wrong(step, "its body gives another type of result");
  }
  return verify_symbols(step);
}

// It is given the memory of its results before it runs: they must be known then.
Status verify_custom(const HostStep& step) {
  if (!step.function) return wrong(step, "it lacks a function");
  if (!step.symbols.empty()) return wrong(step, "it defines no symbols");
  if (step.results.empty()) return wrong(step, "it gives no result");
  return {};
}

struct HostRule {
  HostKind kind;
  size_t bodies;
  Status (*verify)(const HostStep&);
};
constexpr HostRule kHostRules[] = {{HostKind::Define, 0, verify_define},
                                   {HostKind::If, 2, verify_if},
                                   {HostKind::Loop, 1, verify_loop},
                                   {HostKind::Custom, 0, verify_custom}};

Status verify_tensor(const Program& program, const HostStep& step, const Tensor& tensor,
                     bool written) {
  if (Status status = verify_buffer(program, step.origin, tensor.buffer); !status.ok())
    return status;
  const BufferKind kind = root_of(program, tensor.buffer).kind;
  if (kind == BufferKind::Output || (written && kind != BufferKind::Arena))
    return wrong(step, "it cannot use this kind of buffer");
  const ByteRange range = byte_range(program, tensor.buffer);
  if (prove_le(tensor.type.bytes(), range.end - range.begin) == Proof::No)
    return wrong(step, "a tensor is larger than its buffer");
  return {};
}

Status verify_host_step(const Program& program, const HostStep& step) {
  const HostRule& rule = kHostRules[static_cast<int>(step.kind)];
  if (step.bodies.size() != rule.bodies || std::ranges::count(step.bodies, nullptr) > 0)
    return wrong(step, "it lacks a body");
  for (const auto* tensors : {&step.operands, &step.results}) {
    for (const Tensor& tensor : *tensors) {
      if (Status status = verify_tensor(program, step, tensor, tensors == &step.results);
          !status.ok())
        return status;
    }
  }
  return rule.verify(step);
}

}  // namespace

Status verify_host_steps(const Program& program) {
  int earliest = 0;
  for (const HostStep& step : program.host_steps) {
    if (step.before < earliest || step.before > static_cast<int>(program.steps.size()))
      return wrong(step, "it is out of place");
    if (Status status = verify_host_step(program, step); !status.ok()) return status;
    earliest = step.before;
  }
  return {};
}

}  // namespace tenon::program
