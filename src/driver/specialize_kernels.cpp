// See specialize_kernels.h.
#include "driver/specialize_kernels.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "driver/pipeline.h"
#include "kernel/fix_dims.h"

namespace tenon::driver {

KernelSpecializer::KernelSpecializer(std::vector<UniqueKernel> kernels, const Options& options)
    : kernels_(std::move(kernels)), backend_(make_backend(with_environment(options))) {}

namespace {

std::optional<kernel::Kernel> fixed(const kernel::Kernel& kernel, std::span<const int64_t> dims) {
  try {
    return kernel::fix_dims(kernel, dims);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::User) throw;
    return std::nullopt;
  }
}

}  // namespace

std::shared_ptr<const program::Code> KernelSpecializer::generate(int kernel,
                                                                 std::span<const int64_t> dims,
                                                                 bool& compiled) const {
  if (dims.empty() || std::ranges::any_of(dims, [](int64_t dim) { return dim <= 0; }))
    return nullptr;
  auto special = fixed(kernels_[static_cast<size_t>(kernel)].kernel, dims);
  if (!special) return nullptr;
#ifdef TENON_VERIFY
  kernel::verify(*special);
#endif
  std::string text = kernel::canonical_text(*special);
  return driver::generate({std::move(*special), std::move(text)}, *backend_, compiled);
}

}  // namespace tenon::driver
