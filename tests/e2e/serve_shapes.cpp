// Serves cases from files with one CompiledGraph: each folder of CASES has a NAME.npy per input and
// gets an out_NAME.npy per output. A JSON line on stdout says how many kernels were compiled for
// all of them together. Other programs (tests/python/compare_ort.py) make the cases and judge the
// outputs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "api/npy.h"
#include "tenon/tenon.h"

namespace {

namespace fs = std::filesystem;

void serve(tenon::CompiledGraph& graph, const fs::path& folder) {
  std::map<std::string, tenon::npy::Array> arrays;
  tenon::NamedInputs inputs;
  for (const tenon::TensorInfo& info : graph.inputs()) {
    const tenon::npy::Array& array = arrays[info.name] =
        tenon::npy::read(folder / (info.name + ".npy"));
    inputs[info.name] = {array.bytes.data(), array.dtype, array.shape};
  }
  for (const tenon::OwnedTensor& output : graph.run_typed(inputs)) {
    tenon::npy::write(folder / ("out_" + output.name + ".npy"), output.dtype, output.shape,
                      output.bytes.data());
  }
}

int serve_all(const std::string& model, const std::string& cases, int threads) {
  tenon::CompiledGraph graph = tenon::Session({.threads = threads}).compile_onnx(model);
  const int kernels = graph.stats().kernels;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(cases)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders) serve(graph, folder);
  fmt::print("{{\"cases\": {}, \"kernels\": {}, \"kernels_after\": {}, \"compile_ms\": {:.1f}}}\n",
             folders.size(), kernels, graph.stats().kernels, graph.stats().milliseconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: serve_shapes MODEL.onnx CASES THREADS\n", stderr);
    return 2;
  }
  try {
    return serve_all(argv[1], argv[2], std::stoi(argv[3]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "serve_shapes: %s\n", error.what());
    return 1;
  }
}
