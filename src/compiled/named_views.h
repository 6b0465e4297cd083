// Tensors given by name, as views in the order of a program's slots.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "program/program.h"
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
void collect_inputs(const std::vector<program::IoSlot>& slots,
                    const std::vector<InputShapes>& shapes, const NamedInputs& given,
                    std::vector<runtime::IoView>& views);
void collect_outputs(const std::vector<program::IoSlot>& slots, const NamedOutputs& given,
                     std::vector<runtime::IoView>& views);

}  // namespace tenon::compiled
