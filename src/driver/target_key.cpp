// See target_key.h.
#include "driver/target_key.h"

#include <fmt/format.h>

#include "codegen/cuda/nvrtc.h"
#include "codegen/generator.h"
#include "driver/source_digest.h"

namespace tenon::driver {

void add_target(cache::KeyFields& key, const Options& options) {
  key.add("compiler", kSourceDigest);
  if (options.device == program::DeviceKind::Cuda) {
    key.add("nvrtc", codegen::cuda::nvrtc_options());
    return;
  }
  const codegen::Generator& generator = codegen::find_generator(options.codegen);
  const CpuInfo& cpu = options.cpu;
  key.add("generator", fmt::format("{} {}", generator.name, generator.version()))
      .add("cpu.features", fmt::format("{}{}{}", to_string(cpu.isa), cpu.bf16 ? " bf16" : "",
                                       cpu.vnni ? " vnni" : ""))
      .add("cpu.caches", fmt::format("l1d {} l2 {}", cpu.l1d, cpu.l2));  // schedules fit them
}

}  // namespace tenon::driver
