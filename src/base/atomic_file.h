// Writes files so that nobody ever sees half of one: to temporary names in the same folder, synced,
// then renamed.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tenon {

struct FileToWrite {
  std::string path;
  std::span<const std::string_view> pieces;
};

// User error where one cannot be written; then none is there, nor a temporary file. They get their
// names in this order, when all are written.
void write_atomically(std::span<const FileToWrite> files);
inline void write_atomically(const std::string& path, std::span<const std::string_view> pieces) {
  const FileToWrite file{path, pieces};
  write_atomically(std::span(&file, 1));
}
inline void write_atomically(const std::string& path, std::string_view contents) {
  write_atomically(path, std::span(&contents, 1));
}

}  // namespace tenon
