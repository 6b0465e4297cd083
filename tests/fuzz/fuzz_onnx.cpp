// Any bytes through the importer: they give a graph or an Error of kind User or Unsupported. A
// crash, a sanitizer report, an Internal error or another exception is a finding.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/error.h"
#include "import/onnx/onnx.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto owner = std::make_shared<std::string>(reinterpret_cast<const char*>(data), size);
  try {
    tenon::onnx::import_bytes(std::as_bytes(std::span(*owner)), owner, "fuzz.onnx");
  } catch (const tenon::Error& error) {
    if (error.kind() == tenon::ErrorKind::Internal) {
      std::fprintf(stderr, "%s\n", error.what());
      std::abort();
    }
  }
  return 0;
}
