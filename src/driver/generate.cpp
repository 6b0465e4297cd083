// See generate.h.
#include "driver/generate.h"

#include <fmt/format.h>

#include <atomic>

#include "base/log.h"
#include "base/thread_pool.h"
#include "base/trace.h"
#include "driver/kernel_cache.h"

namespace tenon::driver {

std::shared_ptr<const program::Code> generate(const UniqueKernel& kernel, const Backend& backend,
                                              bool& compiled) {
  return kernel_cache().get_or_make(fmt::format("{}\n{}", backend.key(), kernel.text), [&] {
    compiled = true;
    const auto begin = TraceClock::now();
    auto code = backend.generate(kernel.kernel);
    const auto end = TraceClock::now();
    const std::chrono::duration<double, std::milli> took = end - begin;
    log(LogLevel::Debug, "kernel {}: {} bytes of code in {:.2f} ms", kernel.kernel.name,
        code->bytes.size(), took.count());
    if (tracing()) trace_event("codegen", kernel.kernel.name, "", begin, end);
    return code;
  });
}

Generated generate(const std::vector<UniqueKernel>& kernels, const Backend& backend) {
  std::vector<std::shared_ptr<const program::Code>> codes(kernels.size());
  std::atomic<int> compiled = 0;
  std::vector<std::exception_ptr> failures(kernels.size());
  parallel_for(static_cast<int64_t>(kernels.size()), 0, [&](int64_t begin, int64_t end, int) {
    for (auto at = static_cast<size_t>(begin); at < static_cast<size_t>(end); ++at) {
      try {
        bool fresh = false;
        codes[at] = generate(kernels[at], backend, fresh);
        compiled += fresh ? 1 : 0;
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
