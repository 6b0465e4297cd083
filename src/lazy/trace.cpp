#include "lazy/trace.h"

#include <algorithm>

#include "base/error.h"
#include "base/flat_map.h"
#include "lazy/apply.h"

namespace tenon::lazy {
namespace {

class Tracer {
 public:
  explicit Tracer(const Device& otherwise) : otherwise_(otherwise) {}

  TraceValue value(const Operand& operand) {
    visit(operand);
    return known(operand);
  }
  Trace take() { return std::move(trace_); }

 private:
  struct Frame {
    Operand of;
    std::shared_ptr<const Operation> operation;
    size_t next = 0;  // of its operands
  };

  TraceValue known(const Operand& operand) const {
    const Place* place = places_.find(operand.expression.get());
    if (place->step >= 0) return {.step = place->step, .result = operand.result};
    return {.leaf = place->leaf + operand.result};
  }

  // Depth first, without recursion.
  void visit(const Operand& root) {
    begin(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.next < frame.operation->operands.size()) {
        begin(frame.operation->operands[frame.next++]);
      } else {
        finish(frame);
        frames_.pop_back();
      }
    }
  }

  void begin(const Operand& operand) {
    if (places_.contains(operand.expression.get())) return;
    if (auto operation = operand.expression->operation()) {
      frames_.push_back({operand, std::move(operation)});
    } else {
      add_leaves(operand.expression);
    }
  }

  void add_leaves(const std::shared_ptr<const Expression>& expression) {
    places_[expression.get()] = {.leaf = static_cast<int>(trace_.leaves.size())};
    for (int i = 0; i < expression->results(); ++i) {
      auto elements = expression->elements(i);
      if (!elements)
        throw user_error("[realize] an operand is the output of a plan that was not executed yet");
      merge(trace_.values, elements->values, "realize");
      trace_.leaves.push_back({expression->type(i), std::move(elements), expression, i});
    }
  }

  void finish(Frame& frame) {
    if (places_.contains(frame.of.expression.get())) return;  // found twice on the way
    Trace::Step step{.expression = frame.of.expression, .operation = frame.operation};
    merge(trace_.values, frame.of.expression->values(), "realize");
    step.device = frame.of.expression->device().value_or(otherwise_);
    for (const Operand& operand : frame.operation->operands) {
      const TraceValue value = known(operand);
      step.operands.push_back(value);
      if (value.step < 0) continue;
      const Trace::Step& before = trace_.steps[static_cast<size_t>(value.step)];
      if (before.is_constant() && !frame.operation->copy_to) continue;
      const bool crosses = before.device != step.device || frame.operation->copy_to;
      step.level = std::max(step.level, before.level + (crosses ? 1 : 0));
    }
    places_[frame.of.expression.get()] = {.step = static_cast<int>(trace_.steps.size())};
    trace_.steps.push_back(std::move(step));
  }

  struct Place {
    int leaf = -1, step = -1;
  };
  Trace trace_;
  Device otherwise_;
  FlatMap<const Expression*, Place> places_;
  std::vector<Frame> frames_;
};

}  // namespace

const TensorType& Trace::type(const TraceValue& value) const {
  if (value.leaf >= 0) return leaves[static_cast<size_t>(value.leaf)].type;
  return steps[static_cast<size_t>(value.step)].expression->type(value.result);
}

const Device& Trace::device(const TraceValue& value) const {
  if (value.leaf >= 0) return leaves[static_cast<size_t>(value.leaf)].elements->buffer->device();
  return steps[static_cast<size_t>(value.step)].device;
}

Trace trace(const std::vector<Operand>& targets, const Device& otherwise) {
  Tracer tracer(otherwise);
  std::vector<TraceValue> values;
  for (const Operand& target : targets) values.push_back(tracer.value(target));
  Trace result = tracer.take();
  result.targets = std::move(values);
  return result;
}

}  // namespace tenon::lazy
