// From a kernel to a module, and from there to text or machine code.
#include "codegen/llvm/generate.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/raw_ostream.h>

#include "base/error.h"
#include "codegen/llvm/backend.h"
#include "codegen/llvm/emitter.h"
#include "codegen/object_code.h"

namespace tenon::codegen {

namespace {

std::unique_ptr<llvm::Module> make_module(const kernel::Kernel& kernel, llvm::LLVMContext& context,
                                          const llvm::TargetMachine& machine) {
  auto module = std::make_unique<llvm::Module>(kernel.name, context);
  module->setTargetTriple(machine.getTargetTriple().str());
  module->setDataLayout(machine.createDataLayout());
  const bool has_scale = machine.getMCSubtargetInfo()->checkFeatures("+avx512f");
  Emitter(kernel, *module, has_scale).emit();
#ifdef TENON_VERIFY
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(*module, &stream))
    throw internal_error("kernel {}: {}", kernel.name, problem);
#endif
  return module;
}

// Good until the next one of the thread.
std::string_view run_backend(const kernel::Kernel& kernel, Isa isa, llvm::CodeGenFileType type) {
  Backend& backend = Backend::of(isa, type);
  llvm::LLVMContext context;
  context.setDiscardValueNames(true);
  return backend.run(*make_module(kernel, context, backend.machine()));
}

}  // namespace

std::shared_ptr<const program::Code> generate(const kernel::Kernel& kernel, Isa isa) {
  const std::string_view object = run_backend(kernel, isa, llvm::CodeGenFileType::ObjectFile);
  return std::make_shared<program::Code>(
      link_object(std::as_bytes(std::span(object)), kernel.name));
}

std::string llvm_version() { return LLVM_VERSION_STRING; }

std::string llvm_ir(const kernel::Kernel& kernel, Isa isa) {
  const Backend& backend = Backend::of(isa, llvm::CodeGenFileType::ObjectFile);
  llvm::LLVMContext context;
  const auto module = make_module(kernel, context, backend.machine());
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, nullptr);
  return text;
}

std::string assembly(const kernel::Kernel& kernel, Isa isa) {
  return std::string(run_backend(kernel, isa, llvm::CodeGenFileType::AssemblyFile));
}

}  // namespace tenon::codegen
