// Bytes by digest, in a folder: what was made once, at some cost, is found again by other processes
// and on other machines. Files appear whole or not at all, and carry a checksum: a damaged one
// counts as absent and is replaced.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"

namespace tenon {

class FileStore {
 public:
  // An empty path: a store that holds nothing. The folder is made when something is kept.
  explicit FileStore(std::string folder) : folder_(std::move(folder)) {}

  std::optional<std::vector<std::byte>> find(const Digest& digest) const;
  // Best effort: a folder that cannot be written costs a warning, once.
  void keep(const Digest& digest, std::span<const std::byte> bytes) const;

 private:
  std::string path_of(const Digest& digest) const;

  std::string folder_;
};

// Compiled CUDA kernels: in the folder that TENON_CUDA_CACHE names.
const FileStore& cuda_store();

}  // namespace tenon
