// The C API over CompiledGraph: models, and what they take and give. Runs are c_runs.cpp, handles
// c_handles.cpp.
#include "tenon/c_api.h"

#include <charconv>

#include "compiled/c_model.h"

namespace tenon::compiled {
namespace {

thread_local std::string last_error;

}  // namespace

TensorDescription::TensorDescription(const TensorInfo& info) : name(info.name), dtype(info.dtype) {
  for (const std::string& extent : info.shape) {
    int64_t value = -1;
    std::from_chars(extent.data(), extent.data() + extent.size(), value);
    const bool fixed = std::to_string(value) == extent;
    extents.push_back(fixed ? value : -1);
  }
}

tenon_status failed(tenon_status status, const char* message) noexcept {
  try {
    last_error = message;
  } catch (const std::bad_alloc&) {
    last_error.clear();
  }
  return status;
}

void clear_last_error() noexcept { last_error.clear(); }

tenon_status status_of(ErrorKind kind) {
  constexpr tenon_status kStatuses[] = {TENON_USER_ERROR, TENON_UNSUPPORTED_ERROR,
                                        TENON_INTERNAL_ERROR};
  return kStatuses[static_cast<int>(kind)];
}

tenon_tensor describe(const TensorDescription& of) {
  return {of.name.c_str(), static_cast<tenon_dtype>(info(of.dtype).onnx),
          static_cast<int>(of.extents.size()), of.extents.data(), nullptr};
}

TensorView view_of(const tenon_tensor& tensor, const char* function) {
  given(tensor.name, function, "a tensor's name");
  const auto dtype = dtype_from_onnx(tensor.dtype);
  if (!dtype)
    throw user_error("[{}] \"{}\": dtype {} is not known", function, tensor.name,
                     static_cast<int>(tensor.dtype));
  if (tensor.rank < 0 || (tensor.rank > 0 && !tensor.extents))
    throw user_error("[{}] \"{}\": rank {} without extents", function, tensor.name, tensor.rank);
  return {tensor.data, *dtype, std::vector<int64_t>(tensor.extents, tensor.extents + tensor.rank)};
}

}  // namespace tenon::compiled

namespace {

tenon::LoadOptions to_cpp(const tenon_load_options& options) {
  if (options.check_weights < TENON_CHECK_WHEN_READ || options.check_weights > TENON_CHECK_NEVER)
    throw tenon::user_error("[tenon_load] check_weights {} is not known",
                            static_cast<int>(options.check_weights));
  tenon::LoadOptions result;
  if (options.device) result.device = tenon::Device::parse(options.device);
  result.threads = options.threads;
  constexpr tenon::WeightCheck kChecks[] = {tenon::WeightCheck::WhenRead,
                                            tenon::WeightCheck::AtLoad, tenon::WeightCheck::Never};
  result.check_weights = kChecks[options.check_weights];
  return result;
}

}  // namespace

using tenon::compiled::describe;
using tenon::compiled::given;
using tenon::compiled::guarded;
using tenon::compiled::item;

tenon_model::tenon_model(tenon::CompiledGraph compiled) : graph(std::move(compiled)) {
  for (const auto& info : graph.inputs()) inputs.emplace_back(info);
  for (const auto& info : graph.outputs()) outputs.emplace_back(info);
  dims = graph.dims();
}

const char* tenon_version(void) { return TENON_VERSION_STRING; }

const char* tenon_last_error(void) { return tenon::compiled::last_error.c_str(); }

tenon_status tenon_load(const char* path, const tenon_load_options* options, tenon_model** model) {
  return guarded([&] {
    given(model, "tenon_load", "model");
    const tenon::LoadOptions how = options ? to_cpp(*options) : tenon::LoadOptions();
    auto graph = tenon::CompiledGraph::load(&given(path, "tenon_load", "path"), how);
    *model = new tenon_model(std::move(graph));
  });
}

tenon_status tenon_clone(const tenon_model* model, tenon_model** clone) {
  return guarded([&] {
    given(clone, "tenon_clone", "clone");
    *clone = new tenon_model(given(model, "tenon_clone", "model").graph.clone());
  });
}

void tenon_free(tenon_model* model) { delete model; }

int tenon_input_count(const tenon_model* model) {
  return model ? static_cast<int>(model->inputs.size()) : 0;
}

int tenon_output_count(const tenon_model* model) {
  return model ? static_cast<int>(model->outputs.size()) : 0;
}

tenon_status tenon_describe_input(const tenon_model* model, int index, tenon_tensor* input) {
  constexpr const char* kName = "tenon_describe_input";
  return guarded([&] {
    given(input, kName, "input") =
        describe(item(given(model, kName, "model").inputs, index, kName));
  });
}

tenon_status tenon_describe_output(const tenon_model* model, int index, tenon_tensor* output) {
  constexpr const char* kName = "tenon_describe_output";
  return guarded([&] {
    given(output, kName, "output") =
        describe(item(given(model, kName, "model").outputs, index, kName));
  });
}

int tenon_dim_count(const tenon_model* model) {
  return model ? static_cast<int>(model->dims.size()) : 0;
}

tenon_status tenon_describe_dim(const tenon_model* model, int index, tenon_dim* dim) {
  constexpr const char* kName = "tenon_describe_dim";
  return guarded([&] {
    const tenon::DimInfo& info = item(given(model, kName, "model").dims, index, kName, "dim");
    given(dim, kName, "dim") = {info.name.c_str(), info.least, info.most};
  });
}

tenon_status tenon_set_param(tenon_model* model, const tenon_tensor* value) {
  constexpr const char* kName = "tenon_set_param";
  return guarded([&] {
    const tenon_tensor& tensor = given(value, kName, "value");
    const tenon::TensorView view = tenon::compiled::view_of(tensor, kName);
    given(model, kName, "model").graph.set_param(tensor.name, view);
  });
}
