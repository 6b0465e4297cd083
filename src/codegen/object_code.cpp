// A linker for one object file: sections one after the other, PC-relative references patched. This
// is what lets the runtime map code and jump, without a linker of its own.
#include "codegen/object_code.h"

#include <elf.h>

#include <cstring>
#include <map>
#include <vector>

#include "base/error.h"

namespace tenon::codegen {

namespace {

class Linker {
 public:
  Linker(std::span<const std::byte> object, const std::string& kernel)
      : object_(object), kernel_(kernel) {
    const auto header = read<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_REL ||
        header.e_machine != EM_X86_64) {
      throw internal_error("kernel {}: not an object file for x86-64", kernel_);
    }
    for (size_t i = 0; i < header.e_shnum; ++i) {
      sections_.push_back(read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
    }
    if (header.e_shstrndx >= sections_.size())
      throw internal_error("kernel {}: sections without names", kernel_);
    section_names_ = header.e_shstrndx;
  }

  program::Code link() {
    for (size_t i = 0; i < sections_.size(); ++i) place(i);
    code_.entry = -1;
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type == SHT_RELA) relocate(section);
      if (section.sh_type == SHT_SYMTAB) find_entry(section);
    }
    if (code_.entry < 0) throw internal_error("kernel {}: no function {}", kernel_, kEntryName);
    code_.name = kernel_;
    const std::string_view view(reinterpret_cast<const char*>(code_.bytes.data()),
                                code_.bytes.size());
    code_.digest = digest_of(view);
    return std::move(code_);
  }

 private:
  std::span<const std::byte> bytes(size_t offset, size_t size) const {
    if (offset > object_.size() || size > object_.size() - offset)
      throw internal_error("kernel {}: the object file is cut short", kernel_);
    return object_.subspan(offset, size);
  }

  template <typename T>
  T read(size_t offset) const {
    T value;
    std::memcpy(&value, bytes(offset, sizeof value).data(), sizeof value);
    return value;
  }

  std::string name(size_t strings, size_t at) const {
    const Elf64_Shdr& table = sections_.at(strings);
    const auto all = bytes(table.sh_offset, table.sh_size);
    if (at >= all.size()) return {};
    const char* text = reinterpret_cast<const char*>(all.data()) + at;
    return {text, strnlen(text, all.size() - at)};
  }

  // Code and read-only data; unwind tables and notes are for tools that never see this code.
  void place(size_t index) {
    const Elf64_Shdr& section = sections_[index];
    const std::string section_name = name(section_names_, section.sh_name);
    if (!(section.sh_flags & SHF_ALLOC) || section.sh_size == 0 || section.sh_type == SHT_NOTE ||
        section_name.starts_with(".eh_frame"))
      return;
    if ((section.sh_flags & SHF_WRITE) || section.sh_type == SHT_NOBITS)
      throw internal_error("kernel {}: writable section {}", kernel_, section_name);
    const size_t align = std::max<size_t>(section.sh_addralign, 1);
    const size_t at = (code_.bytes.size() + align - 1) / align * align;
    const auto contents = bytes(section.sh_offset, section.sh_size);
    code_.bytes.resize(at);
    code_.bytes.insert(code_.bytes.end(), contents.begin(), contents.end());
    placed_[index] = static_cast<int64_t>(at);
  }

  int64_t address_of(const Elf64_Sym& symbol, size_t strings) const {
    const auto it = placed_.find(symbol.st_shndx);
    if (it == placed_.end()) {
      throw internal_error("kernel {}: undefined symbol {}", kernel_,
                           name(strings, symbol.st_name));
    }
    return it->second + static_cast<int64_t>(symbol.st_value);
  }

  void find_entry(const Elf64_Shdr& symbols) {
    for (size_t at = 0; at < symbols.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read<Elf64_Sym>(symbols.sh_offset + at);
      if (name(symbols.sh_link, symbol.st_name) == kEntryName)
        code_.entry = address_of(symbol, symbols.sh_link);
    }
  }

  void relocate(const Elf64_Shdr& relocations) {
    const auto target = placed_.find(relocations.sh_info);
    if (target == placed_.end()) return;
    const Elf64_Shdr& symbols = sections_.at(relocations.sh_link);
    for (size_t at = 0; at < relocations.sh_size; at += sizeof(Elf64_Rela)) {
      const auto relocation = read<Elf64_Rela>(relocations.sh_offset + at);
      const auto symbol =
          read<Elf64_Sym>(symbols.sh_offset + ELF64_R_SYM(relocation.r_info) * sizeof(Elf64_Sym));
      const int64_t place = target->second + static_cast<int64_t>(relocation.r_offset);
      const auto value =
          static_cast<int32_t>(address_of(symbol, symbols.sh_link) + relocation.r_addend - place);
      const auto type = ELF64_R_TYPE(relocation.r_info);
      if (type != R_X86_64_PC32 && type != R_X86_64_PLT32)
        throw internal_error("kernel {}: relocation of type {}", kernel_, type);
      if (place < 0 || place + 4 > static_cast<int64_t>(code_.bytes.size()))
        throw internal_error("kernel {}: a relocation outside the code", kernel_);
      std::memcpy(code_.bytes.data() + place, &value, sizeof value);
    }
  }

  std::span<const std::byte> object_;
  std::string kernel_;
  std::vector<Elf64_Shdr> sections_;
  size_t section_names_ = 0;
  program::Code code_;
  std::map<size_t, int64_t> placed_;  // section -> where it lies in the code
};

}  // namespace

program::Code link_object(std::span<const std::byte> object, const std::string& kernel) {
  return Linker(object, kernel).link();
}

}  // namespace tenon::codegen
