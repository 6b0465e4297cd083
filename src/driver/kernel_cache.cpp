#include "driver/kernel_cache.h"

#include "base/knobs.h"

namespace tenon::driver {

KernelCache& kernel_cache() {
  static KernelCache cache(static_cast<size_t>(knobs().kernel_cache_max));
  return cache;
}

}  // namespace tenon::driver
