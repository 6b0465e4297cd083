#include "runtime/null_stream.h"

#include <algorithm>

namespace tenon::runtime {
namespace {

class Idle : public StepRunner {
 public:
  using StepRunner::StepRunner;
  Status resolve(std::span<const int64_t> variables, int /*threads*/) override {
    return steps_.resolve(variables);
  }
  int64_t scratch_bytes() const override { return 0; }
  Status run(std::byte* /*scratch*/, const std::stop_token& /*stop*/) override { return {}; }
};

}  // namespace

Result<std::shared_ptr<const LoadedCode>> NullStream::load(const program::Program& program) {
  if (program.device != program::DeviceKind::Null) {
    return user_error("[run] the program was compiled for {}, not for the null device",
                      program::name_of(program.device));
  }
  const auto computes = [](const program::HostStep& step) {
    return step.kind != program::HostKind::Custom;
  };
  if (std::ranges::any_of(program.host_steps, computes))
    return unsupported_error(
        "[run] the null device computes no extents: the model has an if, a loop or shapes that are "
        "data");
  return std::make_shared<const LoadedCode>();
}

Result<std::unique_ptr<StepRunner>> NullStream::prepare(StepList steps,
                                                        std::shared_ptr<const LoadedCode>) {
  return std::unique_ptr<StepRunner>(std::make_unique<Idle>(std::move(steps)));
}

}  // namespace tenon::runtime
