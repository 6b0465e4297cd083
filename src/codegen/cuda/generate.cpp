// See generate.h.
#include "codegen/cuda/generate.h"

#include "base/file_store.h"
#include "codegen/cuda/emitter.h"
#include "codegen/cuda/nvrtc.h"
#include "codegen/cuda/prelude.h"
#include "codegen/cuda/shared_layout.h"

namespace tenon::codegen::cuda {

std::string source(const kernel::Kernel& kernel, int) {
  return std::string(scalar_prelude()) + std::string(device_prelude()) + "\n" +
         Emitter(kernel).emit();
}

// What was compiled once is found by its source, wherever it is kept.
std::shared_ptr<const program::Code> generate(const kernel::Kernel& kernel, int arch) {
  const std::string text = source(kernel, arch);
  const Digest key = Hasher().text(text).number(arch).text(nvrtc_options()).finish();
  program::Code code;
  code.name = kernel.name;
  if (auto found = cuda_store().find(key)) {
    code.bytes = std::move(*found);
  } else {
    code.bytes = compile_cuda(text, arch, kernel.name);
    cuda_store().keep(key, code.bytes);
  }
  code.digest = digest_of({reinterpret_cast<const char*>(code.bytes.data()), code.bytes.size()});
  code.threads = static_cast<int>(kernel.block_threads());
  code.shared_bytes = SharedLayout(kernel).bytes;
  return std::make_shared<const program::Code>(std::move(code));
}

}  // namespace tenon::codegen::cuda
