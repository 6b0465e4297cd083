#include "tenon/tensor.h"

#include "base/error.h"

namespace tenon {

void OwnedTensor::check_dtype(DType wanted) const {
  if (wanted != dtype)
    throw user_error("\"{}\" is {}, not {}", name, to_string(dtype), to_string(wanted));
}

}  // namespace tenon
