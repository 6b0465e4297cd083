// A dtype that a caller gives is a byte, which may be anything (a number from a file, memory that
// nobody set): a User error before its row in the table of dtypes is looked up.
#pragma once

#include <iterator>
#include <string>

#include "base/error.h"
#include "tenon/dtype.h"

namespace tenon::compiled {

// `role`: what is called so.
inline void check_known(DType dtype, const char* role, const std::string& name) {
  const auto number = static_cast<size_t>(dtype);
  if (number < std::size(kDTypes)) return;
  throw user_error("{} \"{}\" is given with the dtype {}, but there are only {}", role, name,
                   number, std::size(kDTypes));
}

}  // namespace tenon::compiled
