// A linker for one object file: sections one after the other, PC-relative references patched. This
// is what lets the runtime map code and jump, without a linker of its own.
#include "codegen/llvm/object_code.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELFObjectFile.h>

#include <cstring>
#include <map>

#include "base/error.h"

namespace tenon::codegen {

namespace {

using llvm::object::ELFObjectFileBase;
using llvm::object::SectionRef;
using llvm::object::SymbolRef;

template <typename T>
T checked(llvm::Expected<T> value, const std::string& kernel) {
  if (!value) throw internal_error("kernel {}: {}", kernel, llvm::toString(value.takeError()));
  return std::move(*value);
}

class Linker {
 public:
  Linker(const ELFObjectFileBase& object, const std::string& kernel)
      : object_(object), kernel_(kernel) {}

  program::Code link(const std::string& entry) {
    for (const SectionRef& section : object_.sections()) place(section);
    for (const SectionRef& section : object_.sections()) relocate(section);
    for (const SymbolRef& symbol : object_.symbols()) {
      if (checked(symbol.getName(), kernel_) == entry) code_.entry = address_of(symbol);
    }
    code_.name = kernel_;
    const std::string_view view(reinterpret_cast<const char*>(code_.bytes.data()),
                                code_.bytes.size());
    code_.digest = digest_of(view);
    return std::move(code_);
  }

 private:
  void place(const SectionRef& section) {
    const llvm::object::ELFSectionRef elf(section);
    const llvm::StringRef name = checked(section.getName(), kernel_);
    if (!(elf.getFlags() & llvm::ELF::SHF_ALLOC) || name.starts_with(".eh_frame") ||
        section.getSize() == 0)
      return;
    if (elf.getFlags() & llvm::ELF::SHF_WRITE)
      throw internal_error("kernel {}: writable section {}", kernel_, name.str());
    const size_t align = section.getAlignment().value();
    const size_t at = (code_.bytes.size() + align - 1) / align * align;
    const llvm::StringRef bytes = checked(section.getContents(), kernel_);
    code_.bytes.resize(at + bytes.size());
    std::memcpy(code_.bytes.data() + at, bytes.data(), bytes.size());
    placed_[section.getIndex()] = static_cast<int64_t>(at);
  }

  int64_t address_of(const SymbolRef& symbol) {
    const auto section = checked(symbol.getSection(), kernel_);
    const auto it =
        section == object_.section_end() ? placed_.end() : placed_.find(section->getIndex());
    if (it == placed_.end()) {
      throw internal_error("kernel {}: undefined symbol {}", kernel_,
                           checked(symbol.getName(), kernel_).str());
    }
    return it->second + static_cast<int64_t>(checked(symbol.getValue(), kernel_));
  }

  void relocate(const SectionRef& section) {
    const auto target = checked(section.getRelocatedSection(), kernel_);
    if (target == object_.section_end() || !placed_.contains(target->getIndex())) return;
    const int64_t base = placed_.at(target->getIndex());
    for (const llvm::object::RelocationRef& relocation : section.relocations()) {
      const uint64_t type = relocation.getType();
      if (type != llvm::ELF::R_X86_64_PC32 && type != llvm::ELF::R_X86_64_PLT32) {
        throw internal_error("kernel {}: relocation of type {}", kernel_, type);
      }
      const int64_t addend =
          checked(llvm::object::ELFRelocationRef(relocation).getAddend(), kernel_);
      const int64_t place = base + static_cast<int64_t>(relocation.getOffset());
      const auto value = static_cast<int32_t>(address_of(*relocation.getSymbol()) + addend - place);
      std::memcpy(code_.bytes.data() + place, &value, sizeof value);
    }
  }

  const ELFObjectFileBase& object_;
  std::string kernel_;
  program::Code code_;
  std::map<uint64_t, int64_t> placed_;
};

}  // namespace

program::Code link_object(llvm::StringRef object, const std::string& entry,
                          const std::string& kernel) {
  const auto file = checked(
      llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, kernel)), kernel);
  const auto* elf = llvm::dyn_cast<ELFObjectFileBase>(file.get());
  if (!elf) throw internal_error("kernel {}: not an ELF object", kernel);
  return Linker(*elf, kernel).link(entry);
}

}  // namespace tenon::codegen
