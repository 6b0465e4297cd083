// Writes a file so that nobody ever sees half of it: to a temporary name in the same folder,
// synced, then renamed.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tenon {

// User error where the file cannot be written; the temporary file is then gone.
void write_atomically(const std::string& path, std::span<const std::string_view> pieces);
inline void write_atomically(const std::string& path, std::string_view contents) {
  write_atomically(path, std::span(&contents, 1));
}

}  // namespace tenon
