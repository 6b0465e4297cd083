// Extents to time kernels at, where a model leaves them open.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "driver/options.h"
#include "tenon/dim_binding.h"

namespace tenon::tune {

using Extents = std::map<std::string, int64_t>;  // of every symbol that a kernel has

// Those given; the others are the middle of their bounds, all of these halved one after the other
// until no kernel has tensors of symbolic size beyond kMostBytesOfTensor. Capacities are the
// extents themselves. An error where what is given lies outside of bounds, or where the extents
// contradict what the model asks of them: only whoever knows it can say better ones.
inline constexpr int64_t kMostBytesOfTensor = int64_t{16} << 20;
Result<Extents> timed_extents(const driver::LoweredKernels& lowered, const DimBinding& given);

// Those of the program's symbols.
DimBinding binding_of(const program::Program& program, const Extents& extents);
// Of those that a kernel has, in its order: "8,128".
std::string extents_of(const kernel::Kernel& kernel, const Extents& extents);

std::optional<int64_t> evaluate(const Dim& dim, const Extents& extents);

}  // namespace tenon::tune
