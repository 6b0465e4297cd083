// Gives back the memory of weights that were read once to be packed, where the system can read them
// again.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tenon::runtime::cpu {

// Drops the resident pages of those ranges that lie in read-only file mappings: a later access
// reads the file again. Other memory is left alone (dropping it would lose its contents). Best
// effort.
void release_file_pages(std::span<const std::span<const std::byte>> ranges);

}  // namespace tenon::runtime::cpu
