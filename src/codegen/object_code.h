// From an ELF object file in memory to one piece of position-independent code with no relocation
// left. Both generators end here.
#pragma once

#include <span>
#include <string>

#include "program/program.h"

namespace tenon::codegen {

inline constexpr const char* kEntryName = "tenon_kernel";  // the function of every object

// Lays out the loaded sections, resolves their references to each other and finds the entry. A
// symbol that is defined nowhere is an Internal error: generated code calls nothing.
program::Code link_object(std::span<const std::byte> object, const std::string& kernel);

}  // namespace tenon::codegen
