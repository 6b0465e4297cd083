// What separates a bug from hostile input.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "base/error.h"

namespace tenon::fuzz {

// A bug is an Internal error; what the input did wrong is of another kind.
template <typename Run>
void expect_no_internal_error(Run run) {
  try {
    run();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Internal) return;
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }
}

}  // namespace tenon::fuzz
