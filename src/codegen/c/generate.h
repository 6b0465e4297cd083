// Code generation through C: a scheduled kernel becomes one C function with explicit vectors, and
// whatever C compiler the machine has makes machine code of it. The same bits as through LLVM.
#pragma once

#include <memory>
#include <string>

#include "codegen/isa.h"
#include "kernel/kernel.h"
#include "program/program.h"

namespace tenon::codegen::c {

// Throws Internal where the kernel is not in scheduled form, User where the compiler (TENON_CC)
// fails.
std::shared_ptr<const program::Code> generate(const kernel::Kernel& kernel, Isa isa);

std::string version();  // the compiler and its options, as they are called; what it says it is
std::string source(const kernel::Kernel& kernel, Isa isa);

}  // namespace tenon::codegen::c
