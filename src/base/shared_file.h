// Files that are mapped once per process: what several models read from one file is then at one
// address, and what is made of it can be shared.
#pragma once

#include <memory>
#include <string>

#include "base/mapped_file.h"
#include "base/result.h"

namespace tenon {

// The mapping that somebody has of this very file, where it has not been changed since; else a new
// one. Errors are those of MappedFile::open.
Result<std::shared_ptr<const MappedFile>> map_shared(const std::string& path);

}  // namespace tenon
