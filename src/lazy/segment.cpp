#include "lazy/segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/flat_map.h"
#include "graph/context.h"

namespace tenon::lazy {
namespace {

// Where it was put: a segment, and the place in it.
struct Placed {
  int segment = -1, place = -1;
};

class Cutter {
 public:
  explicit Cutter(const Trace& trace)
      : trace_(trace), placed_(trace.steps.size()), is_output_(trace.steps.size()) {}

  std::vector<Segment> cut() {
    for (size_t i = 0; i < trace_.steps.size(); ++i) place(static_cast<int>(i));
    for (const TraceValue& target : trace_.targets) need(target, true);
    for (Segment& segment : segments_) finish(segment);
    std::ranges::stable_sort(segments_, {}, &Segment::level);
    return std::move(segments_);
  }

 private:
  const Trace::Step& step(int index) const { return trace_.steps[static_cast<size_t>(index)]; }
  Placed& placed(int index) { return placed_[static_cast<size_t>(index)]; }

  void place(int index) {
    const Trace::Step& each = step(index);
    if (each.is_constant()) return;
    if (each.operation->copy_to) {
      for (const TraceValue& operand : each.operands) need(operand, true);
      return;
    }
    const int at = segment_of(each.device, each.level);
    Segment& to = segments_[static_cast<size_t>(at)];
    placed(index) = {at, static_cast<int>(to.steps.size())};
    to.steps.push_back(index);
    for (const TraceValue& operand : each.operands) {
      if (operand.step >= 0 && placed(operand.step).segment != at) need(operand, false);
    }
  }

  // Segments make constants themselves; `stored`: it must lie somewhere.
  void need(const TraceValue& value, bool stored) {
    if (value.step < 0) return;
    auto& outputs = is_output_[static_cast<size_t>(value.step)];
    if (std::ranges::find(outputs, value.result) != outputs.end()) return;
    const Trace::Step& from = step(value.step);
    if (from.operation->copy_to || (from.is_constant() && !stored)) return;
    outputs.push_back(value.result);
    if (from.is_constant()) {
      const int at = segment_of(from.device, from.level);
      Segment& to = segments_[static_cast<size_t>(at)];
      placed(value.step) = {at, static_cast<int>(to.steps.size())};
      to.steps.push_back(value.step);
    }
    segments_[static_cast<size_t>(placed(value.step).segment)].outputs.push_back(value);
  }

  int segment_of(const Device& device, int level) {
    for (size_t i = 0; i < segments_.size(); ++i) {
      if (segments_[i].level == level && segments_[i].device == device) return static_cast<int>(i);
    }
    segments_.push_back({.device = device, .level = level});
    return static_cast<int>(segments_.size()) - 1;
  }

  // Inputs and key, in one walk.
  void finish(Segment& segment) {
    const auto at = static_cast<int>(&segment - segments_.data());
    FlatMap<TraceValue, uint64_t> inputs;
    enum : uint64_t { kLocal = 1, kInput = 2, kConstant = 3, kOutput = 4 };
    const auto word = [](uint64_t kind, uint64_t number, int result) {
      TENON_CHECK(number < uint64_t{1} << 24, "[realize] more values than a key can name");
      return kind << 56 | number << 32 | static_cast<uint32_t>(result);
    };
    for (const int index : segment.steps) {
      const Trace::Step& each = step(index);
      segment.key.push_back(reinterpret_cast<uintptr_t>(each.operation->rule.get()));
      for (const TraceValue& operand : each.operands) {
        if (operand.step >= 0 && placed(operand.step).segment == at) {
          segment.key.push_back(
              word(kLocal, static_cast<uint64_t>(placed(operand.step).place), operand.result));
        } else if (operand.step >= 0 && step(operand.step).is_constant()) {
          segment.key.push_back(word(kConstant, 0, 0));
          segment.key.push_back(
              reinterpret_cast<uintptr_t>(step(operand.step).operation->rule.get()));
        } else {
          const auto [found, fresh] = inputs.insert(operand);
          if (fresh) {
            found = segment.inputs.size();
            segment.inputs.push_back(operand);
          }
          segment.key.push_back(word(kInput, found, 0));
        }
      }
    }
    for (const TraceValue& output : segment.outputs)
      segment.key.push_back(
          word(kOutput, static_cast<uint64_t>(placed(output.step).place), output.result));
  }

  const Trace& trace_;
  std::vector<Placed> placed_;
  std::vector<std::vector<int>> is_output_;  // results, by step
  std::vector<Segment> segments_;
};

}  // namespace

std::vector<Segment> segments_of(const Trace& trace) { return Cutter(trace).cut(); }

graph::Graph graph_of(const Trace& trace, const Segment& segment) {
  graph::Graph g;
  std::map<std::tuple<int, int, int>, graph::Value> values;
  const auto key = [](const TraceValue& value) {
    return std::tuple(value.leaf, value.step, value.result);
  };
  for (size_t i = 0; i < segment.inputs.size(); ++i)
    values[key(segment.inputs[i])] = g.input(fmt::format("in{}", i), trace.type(segment.inputs[i]));
  const auto leaf_of = [&](const graph::Node& rule) {
    const bool scalar = rule.types()[0].shape.rank() == 0;
    if (rule.op() == graph::Op::Dims) return g.dims(rule.attributes().dims("values"), scalar);
    return g.constant(rule.types()[0], {rule.bytes(), nullptr});
  };
  const auto value_of = [&](const TraceValue& value) {
    const auto found = values.find(key(value));
    if (found != values.end()) return found->second;
    const auto& rule = trace.steps[static_cast<size_t>(value.step)].operation->rule;
    return values[key(value)] = leaf_of(*rule);
  };
  for (const int index : segment.steps) {
    const Trace::Step& step = trace.steps[static_cast<size_t>(index)];
    if (step.is_constant()) continue;
    std::vector<graph::Value> operands;
    for (const TraceValue& operand : step.operands) operands.push_back(value_of(operand));
    const graph::Node& rule = *step.operation->rule;
    const graph::Attributes& attributes = rule.attributes();
    const auto results = rule.op() == graph::Op::Custom
                             ? g.custom(attributes.function("function"), std::move(operands),
                                        attributes.dims("dims"))
                             : g.apply_all(rule.op(), std::move(operands), attributes);
    for (size_t i = 0; i < results.size(); ++i)
      values[key({.step = index, .result = static_cast<int>(i)})] = results[i];
  }
  std::vector<graph::Output> outputs;
  for (size_t i = 0; i < segment.outputs.size(); ++i)
    outputs.push_back({fmt::format("out{}", i), value_of(segment.outputs[i])});
  g.set_outputs(std::move(outputs));
  return g;
}

}  // namespace tenon::lazy
