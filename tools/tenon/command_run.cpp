// `tenon run`: one run of a model; outputs to .npy files or, in short, to the terminal.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

#include "api/npy.h"
#include "base/error.h"
#include "tenon/dtype.h"
#include "tools/tenon/commands.h"
#include "tools/tenon/compile.h"
#include "tools/tenon/inputs.h"

namespace tenon::cli {
namespace {

void print_summary(const OwnedTensor& tensor) {
  const int64_t size = size_of(tensor.dtype),
                count = static_cast<int64_t>(tensor.bytes.size()) / size;
  std::vector<std::string> first;
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = load_as_f64(tensor.dtype, tensor.bytes.data() + i * size);
    if (i < 6) first.push_back(fmt::format("{:.6g}", value));
    sum += value;
    squares += value * value;
  }
  const double mean = count > 0 ? sum / static_cast<double>(count) : 0;
  const double variance = count > 0 ? squares / static_cast<double>(count) - mean * mean : 0;
  fmt::print("{} {}[{}]  {}{}  mean {:.6g} std {:.6g}\n", tensor.name, to_string(tensor.dtype),
             fmt::join(tensor.shape, ", "), fmt::join(first, " "), count > 6 ? " ..." : "", mean,
             std::sqrt(std::max(variance, 0.0)));
}

// Names of ONNX values may hold slashes; a file's name may not.
std::string file_name(std::string name) {
  for (char& c : name) {
    if (c == '/' || c == '\0') c = '_';
  }
  return name + ".npy";
}

void write_files(const std::vector<OwnedTensor>& outputs, const std::string& folder) {
  std::map<std::string, std::string> writers;  // file -> output
  for (const OwnedTensor& output : outputs) {
    const auto [it, fresh] = writers.emplace(file_name(output.name), output.name);
    if (!fresh)
      throw user_error("outputs \"{}\" and \"{}\" would both be written to {}", it->second,
                       output.name, it->first);
  }
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) throw user_error("{}: cannot be made: {}", folder, problem.message());
  for (const OwnedTensor& output : outputs) {
    const std::string path = (std::filesystem::path(folder) / file_name(output.name)).string();
    npy::write(path, output.dtype, output.shape, output.bytes.data());
    fmt::print("{}\n", path);
  }
}

}  // namespace

void run(const RunOptions& options) {
  const Extents dims = single_extents(options.dims, "run");
  const std::vector<GivenInput> given = read_inputs(options.inputs);
  CompiledGraph graph = compile_model(options, options.threads, !options.no_cache);
  Inputs inputs = plan_inputs(graph, given, dims);
  say_defaults(inputs);
  fill_inputs(graph, given, inputs);
  const std::vector<OwnedTensor> outputs =
      graph.run_typed(inputs.views, {.memory_limit = options.memory_limit});
  if (options.output.empty()) {
    for (const OwnedTensor& output : outputs) print_summary(output);
  } else {
    write_files(outputs, options.output);
  }
}

}  // namespace tenon::cli
