// What is wrong where a run defines an extent that cannot be. Such symbols have names that the
// compiler made (slice.0); the message says what the model's author wrote instead.
#pragma once

#include <cstdint>
#include <string>

#include "tenon/dim.h"

namespace tenon {

// `value` lies outside the bounds of `symbol`.
std::string wrong_extent(const Symbol& symbol, int64_t value);

}  // namespace tenon
