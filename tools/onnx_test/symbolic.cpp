#include "tools/onnx_test/symbolic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/error.h"
#include "import/onnx/onnx.h"
#include "tools/onnx_test/compare.h"
#include "tools/onnx_test/other_extents.h"

namespace tenon::onnx_test {
namespace {

using graph::Graph;
using graph::Tensor;

// A model with some extents free, ready to run.
struct Attempt {
  std::optional<Graph> graph;
  Prepared prepared;
  std::string problem;  // empty: it is compiled
};

Attempt attempt(const Case& the_case, const Device& device, std::set<std::string> fixed) {
  Attempt result;
  try {
    onnx::ImportOptions options;
    options.free_extents = true;
    options.fixed_extents = std::move(fixed);
    result.graph = onnx::import_file(the_case.model.string(), options);
    result.prepared = device(*result.graph);
    if (!result.prepared.compiled) result.problem = result.prepared.why;
  } catch (const std::exception& error) {
    result.problem = error.what();
  }
  return result;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The extents of the model's inputs that are numbers, by the names that free extents have.
std::vector<std::string> extents_of(const Case& the_case) {
  std::vector<std::string> names;
  const Graph g = onnx::import_file(the_case.model.string());
  for (const graph::Value& input : g.inputs()) {
    for (int axis = 0; axis < input.shape().rank(); ++axis) {
      if (input.shape()[axis].is_const()) {
        names.push_back(fmt::format("{}_{}", input.node->name(), axis));
      }
    }
  }
  return names;
}

bool names(const std::string& text, const std::string& symbol) {
  const auto part_of_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (size_t at = text.find(symbol); at != std::string::npos; at = text.find(symbol, at + 1)) {
    const size_t end = at + symbol.size();
    const bool whole = (at == 0 || !part_of_name(text[at - 1])) &&
                       (end == text.size() || !part_of_name(text[end]));
    if (whole) return true;
  }
  return false;
}

// The free extents that the problem names become numbers, as long as it names some; where it names
// none, extents are tried one by one from the last.
Attempt with_numbers(const Case& the_case, const Device& device, Attempt failed,
                     std::vector<std::string>& reasons) {
  std::vector<std::string> free = extents_of(the_case);
  std::set<std::string> fixed;
  while (!failed.problem.empty() && !free.empty()) {
    const std::string why = first_line(failed.problem);
    size_t before = free.size();
    std::erase_if(free, [&](const std::string& name) {
      if (!names(failed.problem, name)) return false;
      reasons.push_back(fmt::format("{}: {}", name, why));
      return fixed.insert(name).second;
    });
    if (free.size() == before) {
      reasons.push_back(fmt::format("{}: {}", free.back(), why));
      fixed.insert(free.back());
      free.pop_back();
    }
    failed = attempt(the_case, device, fixed);
  }
  return failed;
}

// The interpreter rounds after each op, compiled code where it stores: two units in the last place
// of f16.
constexpr Tolerance kOfTwoRoundings = {1.0 / 512, 1e-7};

// Against the interpreter, at the first other extents that it takes.
void run_second(const Attempt& ready, const Inputs& inputs, SymbolicResult& result) {
  for (const ExtentChange& change : extent_changes(*ready.graph, inputs)) {
    std::vector<Tensor> expected;
    const Inputs others = at_other_extents(*ready.graph, inputs, change);
    if (others.empty()) continue;
    try {
      expected = graph::interpret(*ready.graph, others);
    } catch (const Error&) {
      continue;  // extents that the model does not take together
    }
    const std::vector<Tensor> actual = ready.prepared.run(others);
    for (size_t i = 0; i < expected.size() && result.message.empty(); ++i) {
      const std::string what = difference(
          actual[i], expected[i], expected[i].dtype == DType::F16 ? kOfTwoRoundings : Tolerance{});
      if (!what.empty())
        result.message =
            fmt::format("at other extents output '{}' {}", ready.graph->outputs()[i].name, what);
    }
    result.second = true;
    return;
  }
}

}  // namespace

SymbolicResult run_symbolic(const Case& the_case, const Device& device) {
  SymbolicResult result;
  try {
    Attempt ready = attempt(the_case, device, {});
    if (!ready.problem.empty()) {
      ready = with_numbers(the_case, device, std::move(ready), result.fixed);
    }
    if (!ready.problem.empty()) throw user_error("{}", ready.problem);
    result.message = run_data_sets(the_case, *ready.graph, ready.prepared);
    if (result.message.empty()) {
      run_second(ready, first_inputs(the_case, *ready.graph), result);
    }
  } catch (const std::exception& error) {
    result.message = error.what();
  }
  result.passed = result.message.empty();
  return result;
}

}  // namespace tenon::onnx_test
