// A folder of one's own under TMPDIR (or /tmp), gone with everything in it when the object is.
#pragma once

#include <string>

namespace tenon::codegen::c {

class TemporaryFolder {
 public:
  TemporaryFolder();  // throws User where none can be made
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace tenon::codegen::c
