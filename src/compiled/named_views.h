// Tensors given by name, as views in the order of a program's slots.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "program/program.h"
#include "runtime/handles.h"
#include "runtime/io_view.h"
#include "tenon/tensor.h"

namespace tenon::compiled {

using StaticShape = std::optional<std::vector<int64_t>>;  // nullopt: it has a symbol

// Of an input, with all rows of a bucket and with the active ones.
struct InputShapes {
  StaticShape whole, active;
};

// `views` has one element per slot. Unknown and missing names are User errors that list what there
// is. `shapes`: of the slots, for views that say only how many elements they have. Allocates
// nothing.
// A bound handle shows its input, which must not be given. Outputs that feed handles may be left
// out: their views have no data.
void collect_inputs(const std::vector<program::IoSlot>& slots,
                    const std::vector<InputShapes>& shapes, const NamedInputs& given,
                    const runtime::Handles& handles, std::vector<runtime::IoView>& views);
void collect_outputs(const std::vector<program::IoSlot>& slots, const NamedOutputs& given,
                     const runtime::Handles& handles, std::vector<runtime::IoView>& views);
[[noreturn]] void report_unbound(const program::IoSlot& state);  // a User error
// The caller's extents, or the model's where the caller said only how many elements there are.
runtime::IoView input_view(const TensorView& view, const program::IoSlot& slot,
                           const InputShapes& shapes);

}  // namespace tenon::compiled
