// A model as the compiler has it before its symbols get values, and what it was made of: a plan
// for other options is made from that, without its builder.
#pragma once

#include "tenon/model_source.h"
#include "tenon/pipeline.h"

namespace tenon {

struct ModelTemplate {
  // By these options, merged and with nothing of the entries' own (options_of_template). A User
  // error where the source has parameters that the model lacks, or has with other types.
  ModelTemplate(ModelSource made_of, CompileOptions by);

  const GraphModule& module() const { return source.module_; }
  const std::optional<ParamStore>& params() const { return source.params_; }

  ModelSource source;
  CompileOptions options;
  CompileResult result;
};

// Of all options those that a template depends on; threads, name, verbosity, extents and whether
// it is kept on disk are its entries' own.
CompileOptions options_of_template(const CompileOptions& options);

}  // namespace tenon
