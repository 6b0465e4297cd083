// See temporary_folder.h.
#include "codegen/c/temporary_folder.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace tenon::codegen::c {

TemporaryFolder::TemporaryFolder() {
  const char* parent = std::getenv("TMPDIR");
  path_ = std::string(parent && *parent ? parent : "/tmp") + "/tenon-XXXXXX";
  if (!mkdtemp(path_.data()))  // readable by its owner only
    throw user_error("[codegen c] no temporary folder {}: {}", path_, std::strerror(errno));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace tenon::codegen::c
