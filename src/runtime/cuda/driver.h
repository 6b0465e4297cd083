// The CUDA driver as a table of functions, found when the process first asks for a GPU: the same
// binary runs where there is no driver.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace tenon::runtime::cuda {

struct Driver {
#define DRIVER(field, symbol, ...) int (*field)(__VA_ARGS__) = nullptr;
#include "runtime/cuda/driver.def"
#undef DRIVER

  // Success, or a User error with the driver's own words for what `call` returned.
  Status check(int result, const char* call) const;
};

inline constexpr int kSuccess = 0, kOutOfMemory = 2;

// This machine's, loaded once and initialized; an error that says what is missing.
Result<const Driver*> driver();
// Another instead, for tests; before anybody asks for a GPU.
void use_driver(const Driver& driver);

}  // namespace tenon::runtime::cuda
