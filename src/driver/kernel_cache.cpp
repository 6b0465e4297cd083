#include "driver/kernel_cache.h"

#include "base/knobs.h"

namespace tenon::driver {

SingleFlightCache<program::Code>& kernel_cache() {
  static SingleFlightCache<program::Code> cache(static_cast<size_t>(knobs().kernel_cache_max));
  return cache;
}

}  // namespace tenon::driver
