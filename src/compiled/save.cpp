// CompiledGraph::save: see program/artifact.h for the file.
#include <deque>

#include "base/atomic_file.h"
#include "base/error.h"
#include "compiled/impl.h"
#include "compiled/same_model.h"
#include "compiled/weights_path.h"
#include "program/artifact.h"
#include "program/check_params.h"

namespace tenon {
namespace {

// With the values that were set. What is damaged must not be written with digests that are right
// about it.
program::Program with_values(const program::Program& of, runtime::Executor* loaded) {
  program::Program program = of;
  for (size_t i = 0; loaded && i < program.params.size(); ++i) {
    const auto index = static_cast<int>(i);
    if (!loaded->params().was_set(index)) continue;
    auto value = std::make_shared<std::vector<std::byte>>(loaded->read_param(index).take());
    program::ParamSlot& slot = program.params[i];
    slot.initial = *value;
    slot.owner = std::move(value);
    slot.check = nullptr;
  }
  program::check_params(program, 0).throw_if_error();
  return program;
}

void write(const std::string& path, std::span<const program::Program* const> programs,
           const SaveOptions& options) {
  const bool beside = options.weights == WeightsPlace::Beside;
  const program::ArtifactBytes bytes(
      programs, beside ? program::WeightsPart::Beside : program::WeightsPart::Inside);
  std::vector<FileToWrite> files;
  if (beside) files.push_back({weights_path(path), bytes.weight_pieces()});
  files.push_back({path, bytes.pieces()});
  write_atomically(files);
}

}  // namespace

void CompiledGraph::save(const std::string& path, const SaveOptions& options) const {
  save_all(path, std::span(this, 1), options);
}

void CompiledGraph::save_all(const std::string& path, std::span<const CompiledGraph> graphs,
                             const SaveOptions& options) {
  if (graphs.empty()) throw user_error("[save_all] there is no graph to save");
  std::deque<program::Program> programs;
  std::vector<const program::Program*> list;
  for (const CompiledGraph& graph : graphs) {
    Impl& impl = graph.impl();
    const Impl::Settled settled(impl);
    list.push_back(&programs.emplace_back(with_values(*impl.program, impl.loaded.get())));
    for (const program::Program* other : std::span(list).first(list.size() - 1)) {
      if (variant_of(*other) == variant_of(*list.back()))
        throw user_error("[save_all] two graphs are for {}", to_string(variant_of(*other)));
    }
    if (list.size() > 1) compiled::check_same_model(*list.front(), *list.back());
  }
  write(path, list, options);
}

}  // namespace tenon
