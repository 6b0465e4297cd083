// The code generators: rows of one table. Each makes the same bits of a kernel.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "codegen/isa.h"
#include "kernel/kernel.h"
#include "program/program.h"

namespace tenon::codegen {

struct Generator {
  std::string_view name;
  std::string (*version)();  // of what it makes code with: other code may come of another one
  std::string (*source)(const kernel::Kernel& kernel, Isa isa);  // as text, for people
  std::shared_ptr<const program::Code> (*generate)(const kernel::Kernel& kernel, Isa isa);
};

std::span<const Generator> generators();  // the first is the default

// By name; empty: what TENON_CODEGEN says, or else the default. Another name is a User error that
// lists those there are.
const Generator& find_generator(std::string_view name);

}  // namespace tenon::codegen
