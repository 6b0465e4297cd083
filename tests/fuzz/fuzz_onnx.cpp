// Any bytes through the importer: they give a graph or an Error of kind User or Unsupported; the
// graph is sound, and the interpreter runs it or says what is wrong. A crash, a sanitizer report,
// an Internal error or another exception is a finding.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "import/onnx/onnx.h"
#include "tests/fuzz/run_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto owner = std::make_shared<std::string>(reinterpret_cast<const char*>(data), size);
  tenon::fuzz::expect_no_internal_error([&] {
    const tenon::graph::Graph g =
        tenon::onnx::import_bytes(std::as_bytes(std::span(*owner)), owner, "fuzz.onnx");
    tenon::graph::verify(g);
    tenon::fuzz::run_graph(g);
  });
  return 0;
}
