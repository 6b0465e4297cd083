// Memory a run needs against memory there is. Linux promises more than it has and kills who
// believes it; so we ask before a run is begun.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tenon/tenon.h"

namespace tenon::cli {

// Bytes this process can still get, by the system's free memory, the container's limit and the
// limit on its address space.
int64_t available_memory();

// A User error where the parts together are more than that; it names the largest and the extents.
void check_memory(std::span<const MemoryUse> uses, const std::string& extents);

}  // namespace tenon::cli
