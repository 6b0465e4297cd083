// See backend.h. The passes over LLVM IR are few: what they look for (libcalls, garbage collection,
// exceptions, wide division) is never there, and loops have the addresses that the emitter gave
// them; strength reduction costs more than all the others and makes nothing faster.
#include "codegen/llvm/backend.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Transforms/Scalar.h>

#include <array>
#include <atomic>
#include <iterator>
#include <mutex>

#include "base/error.h"
#include "base/log.h"
#include "codegen/llvm/generate.h"

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
    {Isa::Avx512, "x86-64-v4", "+avx512bf16,+avx512vnni,+prfchw"},
};

// Passes over machine code for what kernels do not have: debug information, calls, unwinding,
// instrumentation, shared stack slots.
const char* const kUnneeded[] = {
    &llvm::FEntryInserterID,
    &llvm::FixupStatepointCallerSavedID,
    &llvm::FuncletLayoutID,
    &llvm::GCMachineCodeAnalysisID,
    &llvm::ImplicitNullChecksID,
    &llvm::LiveDebugValuesID,
    &llvm::MachineSanitizerBinaryMetadataID,
    &llvm::PatchableFunctionID,
    &llvm::RemoveRedundantDebugValuesID,
    &llvm::ShrinkWrapID,
    &llvm::StackColoringID,
    &llvm::StackFrameLayoutAnalysisPassID,
    &llvm::StackMapLivenessID,
    &llvm::XRayInstrumentationID,
};

std::atomic<bool> started = false;

std::unique_ptr<llvm::TargetMachine> make_machine(Isa isa) {
  started = true;
  static std::once_flag once;
  std::call_once(once, [] {
    log(LogLevel::Debug, "LLVM is initialized");
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

}  // namespace

bool llvm_is_started() { return started; }

Backend::Backend(Isa isa, llvm::CodeGenFileType type) : machine_(make_machine(isa)) {
  add_passes(type);
}

Backend& Backend::of(Isa isa, llvm::CodeGenFileType type) {
  thread_local std::array<std::array<std::unique_ptr<Backend>, 2>, std::size(kIsas)> backends;
  const bool object = type == llvm::CodeGenFileType::ObjectFile;
  auto& backend = backends[static_cast<size_t>(isa)][object ? 1 : 0];
  if (!backend) backend = std::make_unique<Backend>(isa, type);
  return *backend;
}

std::string_view Backend::run(llvm::Module& module) {
  output_.clear();
  passes_.run(module);
  return {output_.data(), output_.size()};
}

// The pass manager owns what it is given.
void Backend::add_passes(llvm::CodeGenFileType type) {
  auto& machine = static_cast<llvm::LLVMTargetMachine&>(*machine_);
  auto* functions = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig* config = machine.createPassConfig(passes_);
  config->setDisableVerify(true);
  for (const char* unneeded : kUnneeded) config->disablePass(unneeded);
  passes_.add(config);
  passes_.add(functions);
  passes_.add(llvm::createTargetTransformInfoWrapperPass(machine.getTargetIRAnalysis()));
  passes_.add(llvm::createScalarizeMaskedMemIntrinLegacyPass());
  passes_.add(llvm::createExpandReductionsPass());
  config->addCodeGenPrepare();
  if (config->addInstSelector()) throw internal_error("LLVM selects no code for {}", kTriple);
  passes_.add(llvm::Pass::createPass(&llvm::FinalizeISelID));
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes_, stream_, nullptr, type, functions->getMMI().getContext()))
    throw internal_error("LLVM cannot emit {}", kTriple);
  passes_.add(llvm::createFreeMachineFunctionPass());
}

}  // namespace tenon::codegen
