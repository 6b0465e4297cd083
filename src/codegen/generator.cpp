// See generator.h.
#include "codegen/generator.h"

#include <fmt/ranges.h>

#include <vector>

#include "base/error.h"
#include "base/knobs.h"
#include "codegen/c/generate.h"
#include "codegen/llvm/generate.h"

namespace tenon::codegen {
namespace {

constexpr Generator kGenerators[] = {
    {"llvm", llvm_version, llvm_ir, generate},
    {"c", c::version, c::source, c::generate},
};

}  // namespace

std::span<const Generator> generators() { return kGenerators; }

const Generator& find_generator(std::string_view name) {
  if (name.empty()) name = knobs().codegen;
  if (name.empty()) return kGenerators[0];
  std::vector<std::string_view> names;
  for (const Generator& generator : kGenerators) {
    if (generator.name == name) return generator;
    names.push_back(generator.name);
  }
  throw user_error("[codegen] generator \"{}\" is not known; there are: {}", name,
                   fmt::join(names, ", "));
}

}  // namespace tenon::codegen
