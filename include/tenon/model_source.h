// ModelSource: what the builder of a template returns, a model of any stage, and where the caller
// has them the values of its parameters.
//
//   cache.ensure_template([&] { return std::pair(decoder(), weights); });
#pragma once

#include <optional>
#include <utility>

#include "tenon/graph_module.h"
#include "tenon/param_store.h"

namespace tenon {

class ModelSource {
 public:
  // NOLINTBEGIN(google-explicit-constructor): builders return any of these
  ModelSource(HirModule module) : module_("", std::move(module)) {}
  ModelSource(Graph graph) : module_("", std::move(graph)) {}
  ModelSource(GraphModule module) : module_(std::move(module)) {}
  // Whatever is compiled of it uses the store: in memory, too, the values are there once.
  template <typename Module>
  ModelSource(std::pair<Module, ParamStore> model)
      : ModelSource(ModelSource(std::move(model.first)), std::move(model.second)) {}
  // NOLINTEND(google-explicit-constructor)

 private:
  friend struct ModelTemplate;
  ModelSource(ModelSource source, ParamStore params)
      : module_(std::move(source.module_)), params_(std::move(params)) {}

  GraphModule module_;
  std::optional<ParamStore> params_;
};

}  // namespace tenon
