// OpenVINO's CPU plugin as a contender of bench/peers, by the C API of its Python package. The
// model is given the shapes of the job before it is compiled, which suits the plugin best.
//
//   set pinning 0|1      whether threads stay on their cores
//   set precision f32    what contractions may compute in
#include <openvino/c/openvino.h>

#include "worker.h"

namespace {

using contest::Job;
using contest::Tensor;

void check(ov_status_e status) {
  if (status == OK) return;
  const char* message = ov_get_last_err_msg();
  throw std::runtime_error("openvino: " + std::string(message ? message : "error without words"));
}

ov_element_type_e type_of(const Tensor& tensor) { return tensor.type == "i64" ? I64 : F32; }

// The tensor's own memory.
ov_tensor_t* view_of(const Tensor& tensor) {
  ov_shape_t shape;
  check(ov_shape_create(static_cast<int64_t>(tensor.shape.size()), tensor.shape.data(), &shape));
  ov_tensor_t* view = nullptr;
  check(ov_tensor_create_from_host_ptr(type_of(tensor), shape, tensor.data(), &view));
  return view;
}

class OpenVino : public contest::Contender {
 public:
  explicit OpenVino(const Job& job) {
    ov_core_t* core = nullptr;
    check(ov_core_create(&core));
    ov_model_t* model = nullptr;
    check(ov_core_read_model(core, job.model.c_str(), nullptr, &model));
    give_shapes(model, job.inputs);
    ov_compiled_model_t* compiled = compile(core, model, job);
    check(ov_compiled_model_create_infer_request(compiled, &request_));
    for (const auto* tensors : {&job.inputs, &job.outputs}) {
      for (const Tensor& each : *tensors)
        check(ov_infer_request_set_tensor(request_, each.name.c_str(), view_of(each)));
    }
  }

  std::string version() const override {
    ov_version_t version;
    check(ov_get_openvino_version(&version));
    return version.buildNumber;
  }

  void run() override { check(ov_infer_request_infer(request_)); }

 private:
  static void give_shapes(ov_model_t* model, const std::vector<Tensor>& inputs) {
    std::vector<const char*> names;
    std::vector<ov_partial_shape_t> shapes;
    for (const Tensor& each : inputs) {
      names.push_back(each.name.c_str());
      check(ov_partial_shape_create_static(static_cast<int64_t>(each.shape.size()),
                                           each.shape.data(), &shapes.emplace_back()));
    }
    check(ov_model_reshape(model, names.data(), shapes.data(), names.size()));
  }

  static ov_compiled_model_t* compile(ov_core_t* core, ov_model_t* model, const Job& job) {
    const std::string threads = std::to_string(job.threads);
    const std::string precision = job.setting("precision", "f32");
    const char* pinning = job.setting("pinning", "1") == "1" ? "YES" : "NO";
    const std::vector<ov_property_t> properties = {
        {ov_property_key_hint_performance_mode, "LATENCY"},
        {ov_property_key_num_streams, "1"},
        {ov_property_key_inference_num_threads, threads.c_str()},
        {ov_property_key_hint_inference_precision, precision.c_str()},
        {ov_property_key_hint_enable_cpu_pinning, pinning}};
    ov_compiled_model_t* compiled = nullptr;
    check(ov_core_compile_model_props(core, model, "CPU", properties.size(), properties.data(),
                                      &compiled));
    return compiled;
  }

  ov_infer_request_t* request_ = nullptr;  // until the process ends, with everything else
};

std::unique_ptr<contest::Contender> load(const Job& job) { return std::make_unique<OpenVino>(job); }

}  // namespace

int main() { return contest::serve(load); }
