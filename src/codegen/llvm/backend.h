// Backend: LLVM's way from a module to an object file or to assembly, for one instruction set. What
// it is made of (a target machine, a list of passes) costs more than a small kernel's code, so it
// is kept and used again; each thread has its own.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string_view>

#include "codegen/isa.h"

namespace tenon::codegen {

class Backend {
 public:
  Backend(Isa isa, llvm::CodeGenFileType type);
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  // This thread's.
  static Backend& of(Isa isa, llvm::CodeGenFileType type);

  const llvm::TargetMachine& machine() const { return *machine_; }
  std::string_view run(llvm::Module& module);  // good until the next one

 private:
  void add_passes(llvm::CodeGenFileType type);

  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::SmallVector<char, 0> output_;
  llvm::raw_svector_ostream stream_{output_};
  llvm::legacy::PassManager passes_;
};

}  // namespace tenon::codegen
