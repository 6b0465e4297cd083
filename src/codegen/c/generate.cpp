// See generate.h.
#include "codegen/c/generate.h"

#include <array>
#include <cstdio>

#include "base/hash.h"
#include "base/knobs.h"
#include "codegen/c/compiler.h"
#include "codegen/c/emitter.h"
#include "codegen/object_code.h"

namespace tenon::codegen::c {

// As it is called, and what it says of itself: an update is another one.
std::string version() {
  static const std::string text = [] {
    std::string said;
    if (std::FILE* compiler = popen((knobs().cc + " --version 2>&1").c_str(), "r")) {
      std::array<char, 4096> bytes{};
      while (const size_t got = fread(bytes.data(), 1, bytes.size(), compiler))
        said.append(bytes.data(), got);
      pclose(compiler);
    }
    return knobs().cc + " " + digest_of(said).hex();
  }();
  return text;
}

std::string source(const kernel::Kernel& kernel, Isa isa) { return Emitter(kernel, isa).emit(); }

std::shared_ptr<const program::Code> generate(const kernel::Kernel& kernel, Isa isa) {
  const auto object = compile_source(knobs().cc, source(kernel, isa), isa, kernel.name);
  return std::make_shared<program::Code>(link_object(object, kernel.name));
}

}  // namespace tenon::codegen::c
