// Machine code that jumps to a function of this process.
#pragma once

#include <array>
#include <bit>
#include <memory>

#include "program/program.h"
#include "program/verify.h"

namespace tenon {

// movabs rax, function; jmp rax
inline std::shared_ptr<const program::Code> jump_to(const char* name,
                                                    program::KernelFunction function) {
  auto code = std::make_shared<program::Code>();
  code->name = name;
  code->bytes = {std::byte{0x48}, std::byte{0xB8}};
  for (const std::byte each :
       std::bit_cast<std::array<std::byte, 8>>(reinterpret_cast<uintptr_t>(function)))
    code->bytes.push_back(each);
  code->bytes.insert(code->bytes.end(), {std::byte{0xFF}, std::byte{0xE0}});
  code->digest = program::code_digest(code->bytes);
  return code;
}

}  // namespace tenon
