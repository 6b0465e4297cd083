// See generate.h.
#include "driver/generate.h"

#include <fmt/format.h>

#include <atomic>

#include "base/thread_pool.h"
#include "driver/kernel_cache.h"

namespace tenon::driver {

Generated generate(const std::vector<UniqueKernel>& kernels, const Backend& backend) {
  const std::string key = backend.key();
  std::vector<std::shared_ptr<const program::Code>> codes(kernels.size());
  std::atomic<int> compiled = 0;
  std::vector<std::exception_ptr> failures(kernels.size());
  parallel_for(static_cast<int64_t>(kernels.size()), 0, [&](int64_t begin, int64_t end, int) {
    for (auto at = static_cast<size_t>(begin); at < static_cast<size_t>(end); ++at) {
      try {
        codes[at] = kernel_cache().get_or_make(fmt::format("{}\n{}", key, kernels[at].text), [&] {
          ++compiled;
          return backend.generate(kernels[at].kernel);
        });
      } catch (...) {
        failures[at] = std::current_exception();
      }
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return {std::move(codes), compiled};
}

}  // namespace tenon::driver
