// `tenon show FILE.tenon`: what an artifact takes and gives, which machines it has code for, and
// where its weights are.
#include <fmt/format.h>

#include "base/shared_file.h"
#include "program/artifact.h"
#include "program/artifact_header.h"
#include "program/print.h"
#include "tools/tenon/commands.h"

namespace tenon::cli {
namespace {

using program::Artifact;
using program::Program;

program::FileBytes map(const std::string& path) {
  auto file = map_shared(path).take();
  const auto bytes = file->bytes();
  return {bytes, std::move(file), path};
}

void print_interface(const Program& program) {
  for (const program::IoSlot& slot : program.inputs)
    fmt::print("input   {} {}\n", slot.name, slot.type.to_string());
  for (const program::IoSlot& slot : program.outputs)
    fmt::print("output  {} {}\n", slot.name, slot.type.to_string());
  for (const Symbol& symbol : program.symbols)
    fmt::print("extent  {} {}..{}\n", symbol.name(), symbol.bounds().lo, symbol.bounds().hi);
  for (const program::ParamSlot& slot : program.params) {
    if (slot.initial.empty() && !slot.type.bytes().is_const(0))
      fmt::print("to set  {} {}\n", slot.name, slot.type.to_string());
  }
}

void print_target(const program::Variant& variant, const Program& program) {
  size_t bytes = 0;
  for (const auto& code : program.code) bytes += code->bytes.size();
  fmt::print("target  {}: {} kernels, {} bytes of code, {} steps\n", to_string(variant),
             program.code.size(), bytes, program.steps.size());
}

}  // namespace

void show_artifact(const ShowOptions& options) {
  const bool whole = options.stage == "program";
  if (!whole && options.stage != "graph")
    throw UsageError("{} is compiled: --stage program is what it has", options.model);
  const std::string& path = options.model;
  const auto artifact = Artifact::open(map(path)).take();
  const bool beside = artifact->has_weights_beside();
  const auto weights =
      artifact->weights(beside ? map(path + ".weights") : program::FileBytes()).take();
  std::vector<std::shared_ptr<const Program>> programs;
  for (size_t i = 0; i < artifact->variants().size(); ++i)
    programs.push_back(artifact->program(i, weights).take());
  fmt::print("format  {}\n", program::ArtifactHeader::kVersion);
  print_interface(*programs[0]);
  fmt::print("weights {} tensors, {} bytes, {}\n", weights->items.size(), artifact->weight_bytes(),
             beside ? "beside: " + path + ".weights" : "inside");
  for (size_t i = 0; i < programs.size(); ++i) {
    print_target(artifact->variants()[i], *programs[i]);
    if (whole) fmt::print("{}", program::print(*programs[i]));
  }
}

}  // namespace tenon::cli
