// LLVM set-up: a target machine per instruction set, and the way from a module to text or machine
// code.
#include "codegen/llvm/generate.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <array>
#include <iterator>
#include <mutex>

#include "base/error.h"
#include "codegen/llvm/emitter.h"
#include "codegen/object_code.h"

namespace tenon::codegen {

namespace {

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";

struct IsaRow {
  Isa isa;
  const char* cpu;
  const char* features;
};
// Levels, not host names: the same code on every machine of a level.
constexpr IsaRow kIsas[] = {
    {Isa::Avx2, "x86-64-v3", "+prfchw"},
    {Isa::Avx512, "x86-64-v4", "+avx512vnni,+avx512bf16,+prfchw"},
};

std::unique_ptr<llvm::TargetMachine> make_machine(Isa isa) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (!target) throw internal_error("LLVM: {}", error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  const IsaRow& row = kIsas[static_cast<int>(isa)];
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(kTriple, row.cpu, row.features, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

// One per thread and instruction set: they are costly to make and not to be shared.
llvm::TargetMachine& machine_for(Isa isa) {
  thread_local std::array<std::unique_ptr<llvm::TargetMachine>, std::size(kIsas)> machines;
  auto& machine = machines[static_cast<size_t>(isa)];
  if (!machine) machine = make_machine(isa);
  return *machine;
}

std::unique_ptr<llvm::Module> make_module(const kernel::Kernel& kernel, llvm::LLVMContext& context,
                                          const llvm::TargetMachine& machine) {
  auto module = std::make_unique<llvm::Module>(kernel.name, context);
  module->setTargetTriple(kTriple);
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

llvm::SmallVector<char, 0> run_codegen(const kernel::Kernel& kernel, Isa isa,
                                       llvm::CodeGenFileType type) {
  llvm::TargetMachine& machine = machine_for(isa);
  llvm::LLVMContext context;
  context.setDiscardValueNames(true);
  const auto module = make_module(kernel, context, machine);
  llvm::SmallVector<char, 0> output;
  llvm::raw_svector_ostream stream(output);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true))
    throw internal_error("LLVM cannot emit {}", kTriple);
  passes.run(*module);
  return output;
}

}  // namespace

std::shared_ptr<const program::Code> generate(const kernel::Kernel& kernel, Isa isa) {
  const auto object = run_codegen(kernel, isa, llvm::CodeGenFileType::ObjectFile);
  return std::make_shared<program::Code>(
      link_object(std::as_bytes(std::span(object.data(), object.size())), kernel.name));
}

std::string llvm_ir(const kernel::Kernel& kernel, Isa isa) {
  llvm::TargetMachine& machine = machine_for(isa);
  llvm::LLVMContext context;
  const auto module = make_module(kernel, context, machine);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, nullptr);
  return text;
}

std::string assembly(const kernel::Kernel& kernel, Isa isa) {
  const auto text = run_codegen(kernel, isa, llvm::CodeGenFileType::AssemblyFile);
  return {text.data(), text.size()};
}

}  // namespace tenon::codegen
