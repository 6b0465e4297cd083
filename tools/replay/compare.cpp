// See compare.h.
#include "tools/replay/compare.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_set>

#include "base/cpu_info.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "driver/pipeline.h"
#include "runtime/run_owned.h"
#include "tools/replay/exact.h"

namespace tenon::replay {

using graph::Tensor;

namespace {

// How exactly an output can be asked for.
struct Precision {
  bool exact;       // to the bit, but for the sign of a zero
  double rounding;  // of the least exact dtype that a value goes through on its way
  bool special;     // NaN and infinity are among the inputs: where they come out is defined too
};

// Of numbers of 8 bits up to some 90: half a unit in the last place is a quarter, in an exponent.
bool is_steep(graph::Op op) {
  constexpr graph::Op kSteep[] = {graph::Op::Exp, graph::Op::Pow, graph::Op::Sinh, graph::Op::Cosh};
  return std::ranges::find(kSteep, op) != std::end(kSteep);
}

double rounding_of(graph::Value output) {
  double rounding = 1e-12;
  std::unordered_set<const graph::Node*> seen{output.node};
  std::vector<const graph::Node*> pending{output.node};
  while (!pending.empty()) {
    const graph::Node* node = pending.back();
    pending.pop_back();
    for (const TensorType& type : node->types()) {
      const double own = type.dtype == DType::BF16  ? (is_steep(node->op()) ? 0x1p-1 : 0x1p-4)
                         : type.dtype == DType::F16 ? 0x1p-7
                         : type.dtype == DType::F32 ? 1e-4
                                                    : 0;
      rounding = std::max(rounding, own);
    }
    for (const graph::Value& operand : node->operands()) {
      if (seen.insert(operand.node).second) pending.push_back(operand.node);
    }
  }
  return rounding;
}

constexpr double kFar = 1e30;  // where f32 may or may not overflow

// Whether `got` is what rounding can make of `want`; `moved` is what inputs moved a little give,
// in each of several ways: one alone may leave a steep function where it was.
bool is_close(double got, double want, std::span<const double> moved, const Precision& precision) {
  double steepest = 0;
  for (const double other : moved) {
    if (std::isnan(want) != std::isnan(other) || std::isinf(want) != std::isinf(other)) return true;
    steepest = std::max(steepest, std::abs(want - other));
  }
  if (std::isfinite(got) && std::isfinite(want)) {
    const double room = precision.rounding * (1 + std::abs(want)) + 50 * steepest;
    return std::abs(want) > kFar || std::abs(got - want) <= room;
  }
  return !precision.special ||
         (!std::isnan(got) && !std::isnan(want) && std::min(std::abs(got), std::abs(want)) > kFar);
}

// Empty where the tensors agree.
std::string difference(const Tensor& got, const Tensor& want, std::span<const Tensor> moved,
                       const Precision& precision) {
  if (got.dtype != want.dtype || got.shape != want.shape) {
    return fmt::format("{}[{}] instead of {}[{}]", to_string(got.dtype), fmt::join(got.shape, ", "),
                       to_string(want.dtype), fmt::join(want.shape, ", "));
  }
  const auto size = static_cast<size_t>(size_of(want.dtype));
  for (size_t at = 0; at < want.bytes.size(); at += size) {
    if (std::equal(&got.bytes[at], &got.bytes[at] + size, &want.bytes[at])) continue;
    const double a = load_as_f64(got.dtype, &got.bytes[at]);
    const double b = load_as_f64(want.dtype, &want.bytes[at]);
    if (is_float(want.dtype)) {
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      std::vector<double> others;
      for (const Tensor& other : moved)
        others.push_back(load_as_f64(other.dtype, &other.bytes[at]));
      if (!precision.exact && is_close(a, b, others, precision)) continue;
    }
    return fmt::format("element {} is {}, not {}", at / size, a, b);
  }
  return {};
}

struct Ran {
  std::vector<Tensor> outputs;
  std::string error;  // of the user
};

Ran run_or_error(const std::function<std::vector<Tensor>()>& run) {
  try {
    return {run(), {}};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::User) throw;
    return {{}, error.what()};
  }
}

constexpr int kMostWays = 12;

// What a graph gives for inputs that are moved a little, in so many ways as are asked for.
class Moved {
 public:
  Moved(const graph::Graph& graph, const Tensors& inputs, uint64_t seed)
      : graph_(graph), inputs_(inputs), seed_(seed) {}

  // Of output `i`; one that errors or comes out in another shape is `otherwise`.
  std::vector<Tensor> outputs(size_t i, int ways, const Tensor& otherwise) {
    while (runs_.size() < static_cast<size_t>(ways)) {
      const uint64_t seed = seed_ + runs_.size();
      runs_.push_back(
          run_or_error([&] { return graph::interpret(graph_, perturbed(inputs_, seed)); }));
    }
    std::vector<Tensor> result;
    for (const Ran& run : std::span(runs_).first(static_cast<size_t>(ways))) {
      const bool comparable = run.error.empty() && run.outputs[i].shape == otherwise.shape;
      result.push_back(comparable ? run.outputs[i] : otherwise);
    }
    return result;
  }

 private:
  const graph::Graph& graph_;
  const Tensors& inputs_;
  uint64_t seed_;
  std::vector<Ran> runs_;
};

// Compiled code looks up what the elements of its results need, the interpreter what is written.
bool looks_up_for_nothing(const Ran& want, const Ran& got) {
  return want.error.find("is outside axis") != std::string::npos && got.error.empty() &&
         std::ranges::any_of(got.outputs, [](const Tensor& t) { return t.bytes.empty(); });
}

Outcome compare_run(const graph::Graph& graph, const Case& given, const Tensors& inputs,
                    const Run& run) {
  const Ran want = run_or_error([&] { return graph::interpret(graph, inputs); });
  const Ran got = run_or_error([&] { return run(inputs); });
  if (looks_up_for_nothing(want, got)) return {Verdict::Same, {}};
  if (want.error.empty() != got.error.empty()) {
    return {Verdict::Differs, got.error.empty()
                                  ? "no error, where the interpreter says: " + want.error
                                  : "an error that the interpreter does not have: " + got.error};
  }
  if (!want.error.empty()) return {Verdict::Same, {}};
  Moved moved(graph, inputs, given.seed);
  Exactness is_exact;
  for (size_t i = 0; i < want.outputs.size(); ++i) {
    const graph::Value output = graph.outputs()[i].value;
    const Precision precision{is_exact(output), rounding_of(output), given.special};
    std::string text;
    for (int ways = 1; ways <= kMostWays; ++ways) {
      text = difference(got.outputs[i], want.outputs[i], moved.outputs(i, ways, want.outputs[i]),
                        precision);
      if (text.empty() || precision.exact) break;
    }
    if (text.empty()) continue;
    return {Verdict::Differs, fmt::format("output {}: {}", graph.outputs()[i].name, text)};
  }
  return {Verdict::Same, {}};
}

}  // namespace

Device cpu(std::function<void(const kernel::Kernel&)> see_kernel) {
  return [see_kernel = std::move(see_kernel)](const graph::Graph& graph) -> Run {
    driver::Options options;
    options.cpu = cpu_info();
    options.see_kernel = see_kernel;
    auto program =
        std::make_shared<const program::Program>(driver::compile(graph, options).program);
    std::shared_ptr<runtime::Executor> executor =
        runtime::Executor::load(program, thread_pool()).take();
    return [program, executor](const Tensors& inputs) {
      for (const program::ParamSlot& param : program->params) {
        const auto found = inputs.find(param.name);
        if (found == inputs.end()) continue;
        const Tensor& t = found->second;
        executor->set_param(param.name, t.dtype, t.shape, t.bytes.data()).throw_if_error();
      }
      std::vector<runtime::IoView> views;
      for (const program::IoSlot& slot : program->inputs) {
        const Tensor& t = inputs.at(slot.name);
        views.push_back({const_cast<std::byte*>(t.bytes.data()), t.dtype, t.shape, {}});
      }
      std::vector<Tensor> results;
      for (runtime::OwnedOutput& output : runtime::run_owned(*executor, views).take()) {
        const DType dtype = program->outputs[results.size()].type.dtype;
        results.push_back({dtype, std::move(output.shape), std::move(output.bytes)});
      }
      return results;
    };
  };
}

Outcome compare(const graph::Graph& graph, const std::vector<Case>& cases, const Device& device) {
  std::vector<Tensors> inputs;
  for (const Case& given : cases) inputs.push_back(inputs_of(given));
  try {
    const Run run = device(graph);
    for (size_t i = 0; i < cases.size(); ++i) {
      const Outcome outcome = compare_run(graph, cases[i], inputs[i], run);
      if (outcome.verdict != Verdict::Same) return outcome;
    }
    return {Verdict::Same, {}};
  } catch (const Error& error) {
    const bool refused = error.kind() == ErrorKind::Unsupported;
    return {refused ? Verdict::Refused : Verdict::Differs, error.what()};
  }
}

Outcome compare(const Case& given, const Device& device) {
  return compare(given.graph, {given}, device);
}

}  // namespace tenon::replay
