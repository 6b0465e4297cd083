// From an object file in memory to one piece of position-independent code with no relocation left.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>

#include "program/program.h"

namespace tenon::codegen {

// Lays out the loaded sections, resolves their references to each other and finds `entry`. A symbol
// that is defined nowhere is an Internal error: generated code calls nothing.
program::Code link_object(llvm::StringRef object, const std::string& entry,
                          const std::string& kernel);

}  // namespace tenon::codegen
