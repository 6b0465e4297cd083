// oneDNN as a contender of bench/peers: one matmul, with bias and erf-GELU where the job says so,
// its weights in the layout that the library chooses for these extents.
//
//   set rows|depth|columns N   the product's extents
//   set weights PATH           raw f32 [depth, columns], from the file's first byte on
//   set bias PATH              raw f32 [columns], and then GELU; without it neither
#include <oneapi/dnnl/dnnl.hpp>

#include "worker.h"

namespace {

using contest::Job;
using dnnl::memory;

constexpr auto kF32 = memory::data_type::f32;
constexpr auto kRows = memory::format_tag::ab;

memory from_file(const memory::desc& desc, const dnnl::engine& engine, const std::string& path) {
  memory result(desc, engine);
  auto* data = static_cast<char*>(result.get_data_handle());
  if (!std::ifstream(path, std::ios::binary)
           .read(data, static_cast<std::streamsize>(desc.get_size())))
    throw std::runtime_error("cannot read " + path);
  return result;
}

class OneDnn : public contest::Contender {
 public:
  explicit OneDnn(const Job& job) : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    const auto extent = [&](const char* name) { return std::stoll(job.setting(name)); };
    const int64_t rows = extent("rows"), depth = extent("depth"), columns = extent("columns");
    const memory::desc x({rows, depth}, kF32, kRows), y({rows, columns}, kF32, kRows);
    const memory::desc any({depth, columns}, kF32, memory::format_tag::any);
    const memory::desc bias({1, columns}, kF32, kRows);
    const bool gelu = !job.setting("bias").empty();
    dnnl::primitive_attr with_gelu;
    if (gelu) {
      dnnl::post_ops after;
      after.append_eltwise(dnnl::algorithm::eltwise_gelu_erf, 0, 0);
      with_gelu.set_post_ops(after);
    }
    const auto chosen = gelu ? dnnl::matmul::primitive_desc(engine_, x, any, bias, y, with_gelu)
                             : dnnl::matmul::primitive_desc(engine_, x, any, y);
    memory plain = from_file({{depth, columns}, kF32, kRows}, engine_, job.setting("weights"));
    memory packed(chosen.weights_desc(), engine_);
    dnnl::reorder(plain, packed).execute(stream_, plain, packed);
    stream_.wait();
    arguments_ = {{DNNL_ARG_SRC, memory(x, engine_, job.inputs.at(0).data())},
                  {DNNL_ARG_WEIGHTS, packed},
                  {DNNL_ARG_DST, memory(y, engine_, job.outputs.at(0).data())}};
    if (gelu) arguments_.emplace(DNNL_ARG_BIAS, from_file(bias, engine_, job.setting("bias")));
    product_ = dnnl::matmul(chosen);
  }

  std::string version() const override {
    const dnnl_version_t* version = dnnl_version();
    return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
  }

  void run() override {
    product_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::matmul product_;
  std::unordered_map<int, memory> arguments_;
};

std::unique_ptr<contest::Contender> load(const Job& job) { return std::make_unique<OneDnn>(job); }

}  // namespace

int main() { return contest::serve(load); }
