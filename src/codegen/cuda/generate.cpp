// See generate.h.
#include "codegen/cuda/generate.h"

#include "base/knobs.h"
#include "cache/disk_store.h"
#include "codegen/cuda/emitter.h"
#include "codegen/cuda/nvrtc.h"
#include "codegen/cuda/prelude.h"
#include "codegen/cuda/shared_layout.h"

namespace tenon::codegen::cuda {

std::string source(const kernel::Kernel& kernel, int) {
  return std::string(scalar_prelude()) + std::string(device_prelude()) + "\n" +
         Emitter(kernel).emit();
}

namespace {

// In the folder that TENON_CUDA_CACHE names: also for machines that cannot compile them.
cache::DiskStore& cubins() {
  static cache::DiskStore store({.folder = knobs().cuda_cache, .max_bytes = knobs().cache_max});
  return store;
}

}  // namespace

// What was compiled once is found by its source, wherever it is kept.
std::shared_ptr<const program::Code> generate(const kernel::Kernel& kernel, int arch) {
  const std::string text = source(kernel, arch);
  const cache::Bytes cubin =
      cubins().get_or_make(cache::KeyFields()
                               .add("source", digest_of(text).hex())
                               .add("arch", std::to_string(arch))
                               .add("options", nvrtc_options()),
                           [&] { return compile_cuda(text, arch, kernel.name); });
  program::Code code;
  code.name = kernel.name;
  code.bytes.assign(cubin.data().begin(), cubin.data().end());
  code.digest = digest_of({reinterpret_cast<const char*>(code.bytes.data()), code.bytes.size()});
  code.threads = static_cast<int>(kernel.block_threads());
  code.shared_bytes = SharedLayout(kernel).bytes;
  return std::make_shared<const program::Code>(std::move(code));
}

}  // namespace tenon::codegen::cuda
