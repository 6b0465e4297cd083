// Code generation through LLVM, in process: a scheduled kernel becomes LLVM IR with explicit
// vectors, then position- independent machine code. No IR pass pipeline runs: the loop IR has
// decided already, and codegen takes milliseconds.
#pragma once

#include <memory>
#include <string>

#include "codegen/isa.h"
#include "kernel/kernel.h"
#include "program/program.h"

namespace tenon::codegen {

// Compiles one kernel. Throws Internal where the kernel is not in scheduled form.
std::shared_ptr<const program::Code> generate(const kernel::Kernel& kernel, Isa isa);

std::string llvm_version();  // 19.1.7; starts nothing
bool llvm_is_started();      // whether this process has made anything with it
std::string llvm_ir(const kernel::Kernel& kernel,
                    Isa isa);  // what `tenon show --stage source` prints
std::string assembly(const kernel::Kernel& kernel, Isa isa);  // for a look at what matters

}  // namespace tenon::codegen
