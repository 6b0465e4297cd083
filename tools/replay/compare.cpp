// See compare.h.
#include "tools/replay/compare.h"

#include <cmath>
#include <memory>

#include "base/cpu_info.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "driver/pipeline.h"
#include "runtime/run_owned.h"

namespace tenon::replay {

using graph::Tensor;

namespace {

// Rounding of the least exact dtype that a value of this graph goes through.
double rounding_of(const graph::Graph& graph) {
  double rounding = 1e-12;
  for (const graph::Node* node : graph.topological()) {
    for (const TensorType& type : node->types()) {
      const double own = type.dtype == DType::BF16  ? 0x1p-4
                         : type.dtype == DType::F16 ? 0x1p-7
                         : type.dtype == DType::F32 ? 1e-4
                                                    : 0;
      rounding = std::max(rounding, own);
    }
  }
  return rounding;
}

// Empty where the tensors agree.
std::string difference(const Tensor& got, const Tensor& want, const Tensor& moved,
                       double rounding) {
  if (got.dtype != want.dtype || got.shape != want.shape) {
    return fmt::format("{}[{}] instead of {}[{}]", to_string(got.dtype), fmt::join(got.shape, ", "),
                       to_string(want.dtype), fmt::join(want.shape, ", "));
  }
  constexpr double kFar = 1e30;  // where f32 may or may not overflow
  const auto size = static_cast<size_t>(size_of(want.dtype));
  for (size_t at = 0; at < want.bytes.size(); at += size) {
    const double a = load_as_f64(got.dtype, &got.bytes[at]);
    const double b = load_as_f64(want.dtype, &want.bytes[at]);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (is_float(want.dtype)) {
      const double c = load_as_f64(moved.dtype, &moved.bytes[at]);
      if (!std::isfinite(b - c) || std::abs(b) > kFar) continue;
      if (std::abs(a - b) <= rounding * (1 + std::abs(b)) + 50 * std::abs(b - c)) continue;
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

Outcome compare_run(const graph::Graph& graph, const Case& given, const Run& run) {
  const Tensors inputs = inputs_of(given);
  const Ran want = run_or_error([&] { return graph::interpret(graph, inputs); });
  const Ran got = run_or_error([&] { return run(inputs); });
  if (want.error.empty() != got.error.empty()) {
    return {Verdict::Differs, got.error.empty()
                                  ? "no error, where the interpreter says: " + want.error
                                  : "an error that the interpreter does not have: " + got.error};
  }
  if (!want.error.empty()) return {Verdict::Same, {}};
  Ran moved = run_or_error([&] { return graph::interpret(graph, perturbed(inputs, given.seed)); });
  if (!moved.error.empty()) moved.outputs = want.outputs;
  const double rounding = rounding_of(graph);
  for (size_t i = 0; i < want.outputs.size(); ++i) {
    const Tensor& other =
        moved.outputs[i].shape == want.outputs[i].shape ? moved.outputs[i] : want.outputs[i];
    const std::string text = difference(got.outputs[i], want.outputs[i], other, rounding);
    if (text.empty()) continue;
    return {Verdict::Differs, fmt::format("output {}: {}", graph.outputs()[i].name, text)};
  }
  return {Verdict::Same, {}};
}

}  // namespace

Device cpu() {
  return [](const graph::Graph& graph) -> Run {
    driver::Options options;
    options.cpu = cpu_info();
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
  try {
    const Run run = device(graph);
    for (const Case& given : cases) {
      const Outcome outcome = compare_run(graph, given, run);
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
