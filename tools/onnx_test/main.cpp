// onnx_test_interpreter DIR...: the cases on the interpreter, without the compiler.
#include <cstdio>
#include <exception>

#include "tools/onnx_test/suite.h"

int main(int argc, char** argv) {
  using namespace tenon::onnx_test;
  try {
    SuiteOptions options;
    options.folders = {argv + 1, argv + argc};
    return run_suite(options, [](const tenon::graph::Graph& g) { return interpreted(g); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
