// What a mode of precision costs: results beside those of f32, the same model on the same inputs.
#pragma once

#include <optional>
#include <vector>

#include "tools/tenon/commands.h"
#include "tools/tenon/inputs.h"

namespace tenon::cli {

using Outputs = std::vector<OwnedTensor>;

// Of the model in f32, for each set of extents; the graph that made them is gone. Empty where the
// options ask for f32, or for a model that is compiled.
std::vector<Outputs> outputs_in_f32(const ModelOptions& options,
                                    const std::vector<GivenInput>& given,
                                    const std::vector<Extents>& extents);

// max|difference| / rms of the f32 result; of several outputs the worst. nullopt where none is of
// floats.
std::optional<double> error_of(const Outputs& outputs, const Outputs& in_f32);

}  // namespace tenon::cli
