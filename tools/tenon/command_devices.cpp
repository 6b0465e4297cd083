// `tenon devices`: what graphs can run on here, and why not where they cannot.
#include <fmt/format.h>

#include "tenon/tenon.h"
#include "tools/tenon/commands.h"

namespace tenon::cli {

void devices() {
  for (const Device& device : known_devices()) {
    const std::string why = why_unavailable(device);
    fmt::print("{:<8} {}\n", to_string(device),
               why.empty() ? describe(device) : "not available: " + why);
  }
}

}  // namespace tenon::cli
