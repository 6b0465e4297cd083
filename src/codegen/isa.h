// The instruction sets that code is generated for. Levels, not host names: the same code on every
// machine of a level.
#pragma once

#include <cstdint>

namespace tenon::codegen {

enum class Isa : uint8_t { Avx2, Avx512 };

}  // namespace tenon::codegen
