// Tenon as a contender of bench/peers, as a program that links it would use it.
//
//   set policy NAME      a precision policy, dynamic_int8 for example
//   set optimizer NAME   how schedules are found
#include "tenon/tenon.h"

#include <array>
#include <utility>

#include "bench/contest/worker.h"
#include "tenon/version.h"

namespace {

using contest::Job;
using contest::Tensor;

constexpr std::array<std::pair<const char*, tenon::PrecisionPolicy>, 6> kPolicies = {
    {{"always_f32", tenon::PrecisionPolicy::AlwaysF32},
     {"always_f16", tenon::PrecisionPolicy::AlwaysF16},
     {"always_bf16", tenon::PrecisionPolicy::AlwaysBf16},
     {"auto_mixed", tenon::PrecisionPolicy::AutoMixed},
     {"auto_mixed_conservative", tenon::PrecisionPolicy::AutoMixedConservative},
     {"dynamic_int8", tenon::PrecisionPolicy::DynamicInt8}}};

tenon::CompileOptions options_of(const Job& job) {
  tenon::CompileOptions options{.threads = job.threads};
  if (const std::string name = job.setting("policy"); !name.empty()) {
    const auto* row =
        std::ranges::find(kPolicies, name, [](const auto& each) { return each.first; });
    if (row == kPolicies.end()) throw std::runtime_error("no such policy: " + name);
    options.precision_policy = tenon::PrecisionOptions{.policy = row->second};
  }
  if (const std::string name = job.setting("optimizer"); !name.empty())
    options.optimizer = tenon::OptStrategy::parse(name);
  return options;
}

tenon::DType dtype_of(const Tensor& tensor) {
  return tensor.type == "i64" ? tenon::DType::I64 : tenon::DType::F32;
}

class Tenon : public contest::Contender {
 public:
  explicit Tenon(const Job& job)
      : graph_(tenon::Session().compile_onnx(job.model, options_of(job))) {
    for (const Tensor& input : job.inputs)
      inputs_.emplace(input.name, tenon::TensorView(input.data(), dtype_of(input), input.shape));
    for (const Tensor& output : job.outputs)
      outputs_.emplace(output.name,
                       tenon::MutableTensorView{output.data(), dtype_of(output), output.shape});
  }
  std::string version() const override { return TENON_VERSION_STRING; }
  void run() override { graph_.run_into(inputs_, outputs_); }

 private:
  tenon::CompiledGraph graph_;
  tenon::NamedInputs inputs_;
  tenon::NamedOutputs outputs_;
};

std::unique_ptr<contest::Contender> load(const Job& job) { return std::make_unique<Tenon>(job); }

}  // namespace

int main() { return contest::serve(load); }
