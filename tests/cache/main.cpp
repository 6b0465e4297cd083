// The tests, or one of the processes that they start: see child.h.
#include <gtest/gtest.h>

#include <string_view>

#include "tests/cache/child.h"

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "--child")
    return tenon::cache::child_main({argv + 2, argv + argc});
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
