// See generate.h.
#include "codegen/cuda/generate.h"

#include "codegen/cuda/emitter.h"
#include "codegen/cuda/nvrtc.h"
#include "codegen/cuda/prelude.h"
#include "codegen/cuda/shared_layout.h"

namespace tenon::codegen::cuda {

std::string source(const kernel::Kernel& kernel, int) {
  return std::string(scalar_prelude()) + std::string(device_prelude()) + "\n" +
         Emitter(kernel).emit();
}

std::shared_ptr<const program::Code> generate(const kernel::Kernel& kernel, int arch) {
  program::Code code;
  code.name = kernel.name;
  code.bytes = compile_cuda(source(kernel, arch), arch, kernel.name);
  code.digest = digest_of({reinterpret_cast<const char*>(code.bytes.data()), code.bytes.size()});
  code.threads = static_cast<int>(kernel.block_threads());
  code.shared_bytes = SharedLayout(kernel).bytes;
  return std::make_shared<const program::Code>(std::move(code));
}

}  // namespace tenon::codegen::cuda
