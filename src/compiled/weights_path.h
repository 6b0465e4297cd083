// Where the weights of an artifact are that has them beside it. A name from inside of the file
// could lead anywhere.
#pragma once

#include <string>

namespace tenon {

inline std::string weights_path(const std::string& artifact) { return artifact + ".weights"; }

}  // namespace tenon
