// NumPy's .npy files: how tensors go into and out of the command line and the tests. Versions 1 to
// 3, little-endian, in either order; written in C order. A header is input from outside: its
// length, its keys and its shape are checked before they are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tenon/dtype.h"

namespace tenon::npy {

struct Array {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
};

// User errors name the file and what is wrong with it, or why the system does not give it.
Array read(const std::string& path);
Array parse(std::span<const std::byte> file, const std::string& name);

// Writes to a temporary file beside `path` and renames it: a reader sees the old file or the new
// one. bf16 has no NumPy type and is written as f32.
void write(const std::string& path, DType dtype, const std::vector<int64_t>& shape,
           const void* data);

}  // namespace tenon::npy
