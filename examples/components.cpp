// One model with symbolic extents, compiled for the extents it is used with: by keys of yours, step
// by step, and as the components of a server: a prompt at once, then row after row.
#include <cstdio>

#include "tenon/tenon.h"

namespace {

constexpr int64_t kWidth = 4;

// The mean of all rows: `seq` new ones, and `past` of before.
tenon::HirModule running_mean() {
  tenon::HirModule m;
  const tenon::Dim batch = tenon::sym::batch(), seq = tenon::sym::seq(), past = tenon::sym::past();
  const tenon::HirValue before = m.input("before", {{batch, past, kWidth}, tenon::DType::F32});
  const tenon::HirValue x = m.input("x", {{batch, seq, kWidth}, tenon::DType::F32});
  const tenon::HirValue all = m.op1("concat", {before, x}, {{"axis", int64_t{1}}});
  const tenon::HirValue mean = m.op1("reduce_mean", {all}, {{"axes", std::vector<int64_t>{1}}});
  const tenon::HirValue scale = m.param("scale", {{kWidth}, tenon::DType::F32});
  m.set_outputs({{"mean", m.op1("mul", {mean, scale})}});
  return m;
}

// The model, and the values that all its graphs share.
std::pair<tenon::HirModule, tenon::ParamStore> with_scale() {
  return {running_mean(), tenon::ParamStore({{"scale", std::vector<float>{1, 10, 100, 1000}}})};
}

// Rows of 1, of 2, of 3, ...
std::vector<float> rows(int64_t first, int64_t count) {
  std::vector<float> x;
  for (int64_t row = first; row < first + count; ++row)
    x.insert(x.end(), kWidth, static_cast<float>(row));
  return x;
}

void print(const char* what, tenon::CompiledGraph& graph, int64_t past, int64_t seq) {
  const std::vector<float> mean =
      graph.run({{"before", rows(1, past)}, {"x", rows(1 + past, seq)}})[0];
  std::printf("%s: %g %g %g %g\n", what, mean[0], mean[1], mean[2], mean[3]);
}

void by_key() {
  tenon::DynamicDimCompileCache cache(tenon::Device::Cpu(), 2);
  for (const int64_t past : {1, 3, 5}) {
    const auto graph = cache.get_or_specialize(
        static_cast<uint64_t>(past), {{"batch", 1}, {"seq", 1}, {"past", past}}, with_scale);
    print("one after some", *graph, past, 1);
  }
  std::printf("%zu graphs of one template are kept\n", cache.len());
}

void step_by_step(tenon::ModelCompilePipeline& pipeline) {
  pipeline.build_template(with_scale);
  std::printf("%s", to_string(pipeline.manifest()).c_str());
  const tenon::LirModule lir =
      pipeline.specialize_template({{"batch", 1}, {"seq", 2}, {"past", 1}});
  print("two after one", *pipeline.compile_lir(lir), 1, 2);
}

void as_components(tenon::ModelCompilePipeline& pipeline) {
  using tenon::ModelPhase;
  const tenon::ModelComponent prefill{
      .variant = {.batch = 1, .seq = 6, .past = 0, .phase = ModelPhase::Prefill}};
  const tenon::ModelComponent decode{
      .variant = {.batch = 1, .seq = 1, .past = 6, .phase = ModelPhase::Decode},
      .mode = tenon::CompileMode::Lazy};
  const auto [prompt, of_prompt] = pipeline.get_or_compile_component(prefill);
  const auto [next, of_next] = pipeline.get_or_compile_component(decode);
  std::printf("inputs of a step: %s bytes\n", of_next.bytes_of(of_next.inputs).to_string().c_str());
  print("prompt", *prompt.get(), 0, 6);
  std::printf("%s\n", next.is_compiled() ? "compiled" : "to be compiled");
  print("next", *next.get(), 6, 1);
}

}  // namespace

int main() {
  by_key();
  tenon::ModelCompilePipeline pipeline(tenon::Device::Cpu());
  step_by_step(pipeline);
  as_components(pipeline);
  return 0;
}
