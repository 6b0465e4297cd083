// Combinations of the threads' values, in the tree that the loop IR fixes: halves of the group,
// lower thread first. Inside a warp the halves exchange directly. Of a whole block the first halves
// lie in different warps: all values go through shared memory, and each warp computes all of it.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "codegen/cuda/emitter.h"
#include "codegen/text/scalar_ops.h"

namespace tenon::codegen::cuda {

void Emitter::emit_combine(const kernel::Combine& combine) {
  const DType dtype = buffer(combine.buffer).dtype;
  const std::string value = storage(combine.buffer).base + "[0]", type = scalar_type(dtype);
  const auto joined = [&](const std::string& a, const std::string& b) {
    const std::string text = scalar_op_text(combine.join, dtype, std::array{a, b});
    TENON_CHECK(!text.empty(), "kernel {}: no CUDA for {} of {}", kernel_.name,
                kernel::info(combine.join).text, to_string(dtype));
    return text;
  };
  open();
  if (combine.group > kWarp) {
    TENON_CHECK(combine.group == threads_ && threads_ % kWarp == 0,
                "kernel {}: {} threads of {} combine", kernel_.name, combine.group, threads_);
    const bool again = !exchanged_.insert(&combine).second || loops_ > 0;
    if (again) line("__syncthreads();");  // others may still read what is there
    line("{0} *const exchange = ({0} *)(shared_memory + {1});", type,
         layout_.exchanges.at(&combine));
    line("exchange[tid] = {};", value);
    line("__syncthreads();");
    const int64_t warps = threads_ / kWarp;
    for (int64_t warp = 0; warp < warps; ++warp)
      line("{} w{} = exchange[tid % {} + {}];", type, warp, kWarp, warp * kWarp);
    for (int64_t half = warps / 2; half > 0; half /= 2) {
      for (int64_t warp = 0; warp < half; ++warp) {
        line("w{} = {};", warp, joined(fmt::format("w{}", warp), fmt::format("w{}", warp + half)));
      }
    }
    line("{} = w0;", value);
  }
  const int64_t in_last_warp = threads_ % kWarp;
  line("const u32 mask = {};",
       in_last_warp == 0 ? "0xffffffffu"
                         : fmt::format("tid / {0} == {1} ? {2}u : 0xffffffffu", kWarp,
                                       threads_ / kWarp, (int64_t{1} << in_last_warp) - 1));
  const bool commutes = combine.join == kernel::Op::Add || combine.join == kernel::Op::Mul;
  for (int64_t half = std::min(combine.group, kWarp) / 2; half > 0; half /= 2) {
    open();
    line("const {} upper = other(mask, {}, {});", type, value, half);
    if (commutes) {
      line("{} = {};", value, joined(value, "upper"));
    } else {
      line("{} = tid & {} ? {} : {};", value, half, joined("upper", value), joined(value, "upper"));
    }
    close();
  }
  close();
}

}  // namespace tenon::codegen::cuda
