// See executable_code.h. Pages are never writable and executable at once.
#include "runtime/cpu/executable_code.h"

#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "program/verify.h"
#include "runtime/cpu/perf_map.h"

namespace tenon::runtime::cpu {

Result<ExecutableCode> ExecutableCode::map(const program::Code& code) {
  if (code.entry < 0 || code.entry >= static_cast<int64_t>(code.bytes.size())) {
    return internal_error("[{}] entry {} lies outside {} bytes of code", code.name, code.entry,
                          code.bytes.size());
  }
  if (program::code_digest(code.bytes) != code.digest) {
    return user_error("[{}] the machine code does not match its digest: the artifact is damaged",
                      code.name);
  }
  ExecutableCode result;
  void* pages =
      mmap(nullptr, code.bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    return user_error("[{}] out of memory: {} bytes of code", code.name, code.bytes.size());
  result.pages_ = pages;
  result.bytes_ = code.bytes.size();
  std::memcpy(pages, code.bytes.data(), code.bytes.size());
  if (mprotect(pages, code.bytes.size(), PROT_READ | PROT_EXEC) != 0) {
    return user_error("[{}] the system does not let this process run generated code (mprotect: {})",
                      code.name, std::strerror(errno));
  }
  add_to_perf_map(code.name, pages, code.bytes.size());
  result.function_ =
      reinterpret_cast<program::KernelFunction>(static_cast<std::byte*>(pages) + code.entry);
  return result;
}

ExecutableCode::~ExecutableCode() {
  if (pages_) munmap(pages_, bytes_);
}

ExecutableCode::ExecutableCode(ExecutableCode&& other) noexcept { *this = std::move(other); }

ExecutableCode& ExecutableCode::operator=(ExecutableCode&& other) noexcept {
  std::swap(pages_, other.pages_);
  std::swap(bytes_, other.bytes_);
  std::swap(function_, other.function_);
  return *this;
}

}  // namespace tenon::runtime::cpu
