// The store of the process: see disk_store.h.
#include "base/knobs.h"
#include "cache/disk_store.h"
#include "cache/folder.h"

namespace tenon::cache {

DiskStore& default_disk_store() {
  static DiskStore store({.folder = default_folder(), .max_bytes = knobs().cache_max});
  return store;
}

}  // namespace tenon::cache
