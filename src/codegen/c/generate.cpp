// See generate.h.
#include "codegen/c/generate.h"

#include "base/knobs.h"
#include "codegen/c/compiler.h"
#include "codegen/c/emitter.h"
#include "codegen/object_code.h"

namespace tenon::codegen::c {

std::string version() { return knobs().cc; }

std::string source(const kernel::Kernel& kernel, Isa isa) { return Emitter(kernel, isa).emit(); }

std::shared_ptr<const program::Code> generate(const kernel::Kernel& kernel, Isa isa) {
  const auto object = compile_source(knobs().cc, source(kernel, isa), isa, kernel.name);
  return std::make_shared<program::Code>(link_object(object, kernel.name));
}

}  // namespace tenon::codegen::c
