// onnx_test_interpreter DIR...: the cases on the interpreter.
#include <cstdio>
#include <exception>

#include "tools/onnx_test/suite.h"

int main(int argc, char** argv) {
  try {
    return tenon::onnx_test::run_suite({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
