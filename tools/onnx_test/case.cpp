// Imports the model, then for each data set reads the inputs, runs and compares.
#include "tools/onnx_test/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "import/onnx/onnx.h"
#include "tools/onnx_test/compare.h"

namespace tenon::onnx_test {
namespace {

namespace fs = std::filesystem;
using graph::Tensor;

constexpr const char* kModelFile = "model.onnx";

bool is_flat(const Case& the_case) { return the_case.model.filename() != kModelFile; }

// {"rtol": 0.001, "atol": 1e-07}: all that is read of data.json.
double number_in(const std::string& json, const std::string& key, double otherwise) {
  const size_t at = json.find('"' + key + "\":");
  return at == std::string::npos ? otherwise
                                 : std::strtod(json.c_str() + at + key.size() + 3, nullptr);
}

// The description of light/light_NAME.onnx is real/test_NAME/data.json.
fs::path description_of(const Case& the_case) {
  const fs::path folder = the_case.model.parent_path();
  if (!is_flat(the_case)) return folder / "data.json";
  const std::string name =
      the_case.name.substr(std::min(the_case.name.find('_') + 1, the_case.name.size()));
  return folder / ".." / "real" / ("test_" + name) / "data.json";
}

Tolerance tolerance_of(const Case& the_case) {
  std::ifstream file(description_of(the_case));
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  const Tolerance plain;
  return {number_in(json, "rtol", plain.rtol), number_in(json, "atol", plain.atol)};
}

// PREFIX_0.pb, PREFIX_1.pb, ... as far as they go.
std::vector<onnx::NamedTensor> read_tensors(const fs::path& prefix) {
  std::vector<onnx::NamedTensor> result;
  for (int i = 0;; ++i) {
    const std::string file = fmt::format("{}_{}.pb", prefix.string(), i);
    if (!fs::exists(file)) return result;
    result.push_back(onnx::read_tensor_file(file));
  }
}

// A tensor belongs to the input of its name; one without a name of the model's, to that of its
// position.
Inputs by_name(const graph::Graph& g, std::vector<onnx::NamedTensor> given) {
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

// 0, 1/n, 2/n, ...; symbolic extents are 1.
Tensor ramp(const TensorType& type) {
  Tensor tensor{type.dtype, {}, {}};
  for (const Dim& extent : type.shape) {
    tensor.shape.push_back(extent.is_const() ? extent.const_value() : 1);
  }
  const int64_t count = tensor.elements(), size = size_of(type.dtype);
  tensor.bytes.resize(static_cast<size_t>(count * size));
  for (int64_t i = 0; i < count; ++i) {
    store_from_f64(type.dtype, tensor.bytes.data() + i * size,
                   static_cast<double>(i) / static_cast<double>(count));
  }
  return tensor;
}

Inputs ramps(const graph::Graph& g) {
  Inputs inputs;
  for (const graph::Value& input : g.inputs()) inputs[input.node->name()] = ramp(input.type());
  return inputs;
}

// Empty where all outputs agree.
std::string compare_outputs(const graph::Graph& g, const std::vector<Tensor>& actual,
                            const std::vector<onnx::NamedTensor>& expected,
                            const Tolerance& tolerance) {
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

std::string run_data_sets(const Case& the_case, const graph::Graph& g, const Prepared& prepared) {
  const Tolerance tolerance = tolerance_of(the_case);
  const fs::path folder = the_case.model.parent_path();
  if (is_flat(the_case)) {
    const auto expected = read_tensors(folder / (the_case.name + "_output"));
    return compare_outputs(g, prepared.run(ramps(g)), expected, tolerance);
  }
  for (int i = 0;; ++i) {
    const fs::path data = folder / fmt::format("test_data_set_{}", i);
    if (!fs::exists(data)) return i == 0 ? "it has no test_data_set_0" : "";
    const auto actual = prepared.run(by_name(g, read_tensors(data / "input")));
    std::string what = compare_outputs(g, actual, read_tensors(data / "output"), tolerance);
    if (!what.empty()) return what;
  }
}

Inputs first_inputs(const Case& the_case, const graph::Graph& g) {
  if (is_flat(the_case)) return ramps(g);
  return by_name(g, read_tensors(the_case.model.parent_path() / "test_data_set_0" / "input"));
}

std::vector<Case> find_cases(const fs::path& folder) {
  if (!fs::is_directory(folder)) throw user_error("{} is not a folder", folder.string());
  if (fs::exists(folder / kModelFile)) {
    return {{fs::absolute(folder).lexically_normal().filename().string(), folder / kModelFile}};
  }
  std::vector<fs::path> inside;
  for (const auto& entry : fs::directory_iterator(folder)) inside.push_back(entry.path());
  std::sort(inside.begin(), inside.end());
  std::vector<Case> cases;
  for (const fs::path& path : inside) {
    if (fs::is_directory(path)) {
      std::ranges::move(find_cases(path), std::back_inserter(cases));
    } else if (path.extension() == ".onnx") {
      cases.push_back({path.stem().string(), path});
    }
  }
  return cases;
}

CaseResult run_case(const Case& the_case, const Device& device) {
  CaseResult result;
  try {
    const graph::Graph g = onnx::import_file(the_case.model.string());
    const Prepared prepared = device(g);
    result.compiled = prepared.compiled;
    result.why_interpreted = prepared.why;
    result.message = run_data_sets(the_case, g, prepared);
    result.passed = result.message.empty();
  } catch (const std::exception& error) {
    result.message = error.what();
  }
  return result;
}

}  // namespace tenon::onnx_test
