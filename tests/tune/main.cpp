// The tests, or the process that compiles for them, well or badly: see compile_helper_test.cpp.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string_view>

#include "tests/tune/lowered.h"
#include "tune/compile_helper.h"

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "--helper") {
    const std::string_view behaviour = argv[2];
    if (behaviour == "hangs") sleep(60);
    if (behaviour == "dies") _exit(3);
    tenon::tune::serve_compiles(*tenon::driver::make_backend(tenon::tune::options_here()),
                                STDIN_FILENO);
    return 0;
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
