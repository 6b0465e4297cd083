// Activations by name, as ONNX Runtime's fused ops give them with their parameters.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "import/onnx/call.h"

namespace tenon::onnx {

// Parameters that are absent have the default values of the op of that name. An unknown name is
// Unsupported; too many parameters are a User error.
Value activated(Call& call, Value x, std::string_view name,
                std::span<const std::optional<double>> parameters);

// By the attributes `activation` and `activation_params`; x itself where there is none.
Value activated_by_list(Call& call, Value x);
// By `activation`, `activation_alpha`, `activation_beta` and `activation_gamma`.
Value activated_by_letters(Call& call, Value x);

}  // namespace tenon::onnx
