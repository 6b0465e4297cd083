// Names for profilers: with TENON_PERF_MAP=1, where each kernel's code lies is written to
// /tmp/perf-PID.map, the file in which `perf report` looks for names of generated code.
#pragma once

#include <cstddef>
#include <string_view>

namespace tenon::runtime::cpu {

// Does nothing where the knob is off; a file that cannot be written is no error.
void add_to_perf_map(std::string_view name, const void* code, size_t bytes);

}  // namespace tenon::runtime::cpu
