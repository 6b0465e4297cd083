// Imports the model, then for each data set reads the inputs, runs and compares.
#include "tools/onnx_test/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "base/error.h"
#include "import/onnx/onnx.h"
#include "tools/onnx_test/compare.h"

namespace tenon::onnx_test {
namespace {

namespace fs = std::filesystem;
using Inputs = std::map<std::string, graph::Tensor>;

// {"rtol": 0.001, "atol": 1e-07}: all that is read of data.json.
double number_in(const std::string& json, const std::string& key, double otherwise) {
  const size_t at = json.find('"' + key + "\":");
  return at == std::string::npos ? otherwise
                                 : std::strtod(json.c_str() + at + key.size() + 3, nullptr);
}

Tolerance tolerance_of(const fs::path& folder) {
  std::ifstream file(folder / "data.json");
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  const Tolerance plain;
  return {number_in(json, "rtol", plain.rtol), number_in(json, "atol", plain.atol)};
}

// input_0.pb, input_1.pb, ... as far as they go.
std::vector<onnx::NamedTensor> tensors_in(const fs::path& folder, const char* stem) {
  std::vector<onnx::NamedTensor> result;
  for (int i = 0;; ++i) {
    const fs::path file = folder / fmt::format("{}_{}.pb", stem, i);
    if (!fs::exists(file)) return result;
    result.push_back(onnx::read_tensor_file(file.string()));
  }
}

// A tensor belongs to the input of its name; one without a name of the model's, to that of its
// position.
Inputs inputs_of(const graph::Graph& g, std::vector<onnx::NamedTensor> given) {
  Inputs inputs;
  for (size_t i = 0; i < given.size(); ++i) {
    const auto named = [&](const graph::Value& input) {
      return input.node->name() == given[i].name;
    };
    const bool known = std::any_of(g.inputs().begin(), g.inputs().end(), named);
    if (!known && i >= g.inputs().size()) continue;  // an initializer that is an input too
    inputs[known ? given[i].name : g.inputs()[i].node->name()] = std::move(given[i].tensor);
  }
  return inputs;
}

std::string run_data_set(const graph::Graph& g, const fs::path& folder,
                         const Tolerance& tolerance) {
  const auto actual = graph::interpret(g, inputs_of(g, tensors_in(folder, "input")));
  const auto expected = tensors_in(folder, "output");
  if (actual.size() != expected.size()) {
    return fmt::format("{} outputs, expected {}", actual.size(), expected.size());
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    const std::string what = difference(actual[i], expected[i].tensor, tolerance);
    if (!what.empty()) return fmt::format("output '{}' {}", g.outputs()[i].name, what);
  }
  return {};
}

}  // namespace

bool is_case(const fs::path& folder) { return fs::exists(folder / "model.onnx"); }

CaseResult run_case(const fs::path& folder) {
  try {
    const Tolerance tolerance = tolerance_of(folder);
    const graph::Graph g = onnx::import_file((folder / "model.onnx").string());
    for (int i = 0;; ++i) {
      const fs::path data = folder / fmt::format("test_data_set_{}", i);
      if (!fs::exists(data)) return {true, {}};
      const std::string what = run_data_set(g, data, tolerance);
      if (!what.empty()) return {false, what};
    }
  } catch (const std::exception& error) {
    return {false, error.what()};
  }
}

}  // namespace tenon::onnx_test
