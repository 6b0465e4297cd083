#include "api/model_template.h"

#include <mutex>

#include "api/driver_options.h"
#include "api/lir_state.h"
#include "compiled/param_values.h"

namespace tenon {

ModelTemplate::ModelTemplate(ModelSource made_of, CompileOptions by)
    : source(std::move(made_of)),
      options(std::move(by)),
      result(CompilePipeline(options).compile_module(module())) {
  if (!params()) return;
  const ParamStore::Impl& values = *params()->impl_;
  const std::lock_guard lock(values.mutex);
  values.check_fits(LirState::of(result.lir).lir.program.params);
}

CompileOptions options_of_template(const CompileOptions& options) {
  CompileOptions result = with_profile(options);
  result.profile = {};
  result.threads = 0;
  result.name = {};
  result.verbosity = {};
  result.disk_cache = {};
  result.dim_binding = {};
  return result;
}

}  // namespace tenon
