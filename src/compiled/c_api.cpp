// The C API over CompiledGraph. No exception leaves a function: what is thrown becomes a status and
// the text of the calling thread.
#include "tenon/c_api.h"

#include <charconv>
#include <new>

#include "base/error.h"
#include "tenon/compiled_graph.h"

namespace tenon::compiled {

// A tensor as the model describes it, with the memory that its description points to.
struct TensorDescription {
  explicit TensorDescription(const TensorInfo& info) : name(info.name), dtype(info.dtype) {
    for (const std::string& extent : info.shape) {
      int64_t value = -1;
      std::from_chars(extent.data(), extent.data() + extent.size(), value);
      const bool fixed = std::to_string(value) == extent;
      extents.push_back(fixed ? value : -1);
    }
  }
  std::string name;
  DType dtype;
  std::vector<int64_t> extents;
};

}  // namespace tenon::compiled

struct tenon_model {
  explicit tenon_model(tenon::CompiledGraph compiled) : graph(std::move(compiled)) {
    for (const auto& info : graph.inputs()) inputs.emplace_back(info);
    for (const auto& info : graph.outputs()) outputs.emplace_back(info);
  }
  tenon::CompiledGraph graph;
  std::vector<tenon::compiled::TensorDescription> inputs, outputs;
  const std::vector<tenon::TensorView>* last = nullptr;  // of the last run; null where it failed
};

namespace {

using tenon::user_error;

thread_local std::string last_error;

tenon_status fail(tenon_status status, const char* message) noexcept {
  try {
    last_error = message;
  } catch (const std::bad_alloc&) {
    last_error.clear();
  }
  return status;
}

tenon_status status_of(tenon::ErrorKind kind) {
  constexpr tenon_status kStatuses[] = {TENON_USER_ERROR, TENON_UNSUPPORTED_ERROR,
                                        TENON_INTERNAL_ERROR};
  return kStatuses[static_cast<int>(kind)];
}

template <typename Call>
tenon_status guarded(Call call) noexcept {
  try {
    last_error.clear();
    call();
    return TENON_OK;
  } catch (const tenon::Error& error) {
    return fail(status_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return fail(TENON_INTERNAL_ERROR, "out of memory");
  } catch (const std::exception& error) {
    return fail(TENON_INTERNAL_ERROR, error.what());
  }
}

template <typename T>
T& given(T* pointer, const char* function, const char* argument) {
  if (!pointer) throw user_error("[{}] {} is NULL", function, argument);
  return *pointer;
}

template <typename Items>
auto& item(Items& items, int index, const char* function) {
  if (index < 0 || static_cast<size_t>(index) >= items.size())
    throw user_error("[{}] there is no tensor {}: there are {}", function, index, items.size());
  return items[static_cast<size_t>(index)];
}

tenon_tensor describe(const tenon::compiled::TensorDescription& of) {
  return {of.name.c_str(), static_cast<tenon_dtype>(info(of.dtype).onnx),
          static_cast<int>(of.extents.size()), of.extents.data(), nullptr};
}

tenon::TensorView view_of(const tenon_tensor& tensor, const char* function) {
  given(tensor.name, function, "a tensor's name");
  const auto dtype = tenon::dtype_from_onnx(tensor.dtype);
  if (!dtype)
    throw user_error("[{}] \"{}\": dtype {} is not known", function, tensor.name,
                     static_cast<int>(tensor.dtype));
  if (tensor.rank < 0 || (tensor.rank > 0 && !tensor.extents))
    throw user_error("[{}] \"{}\": rank {} without extents", function, tensor.name, tensor.rank);
  return {tensor.data, *dtype, std::vector<int64_t>(tensor.extents, tensor.extents + tensor.rank)};
}

void run(tenon_model& model, const tenon_tensor* inputs, int input_count) {
  if (input_count < 0 || (input_count > 0 && !inputs))
    throw user_error("[tenon_run] {} inputs, and where they are is NULL", input_count);
  tenon::NamedInputs named;
  for (int i = 0; i < input_count; ++i) {
    tenon::TensorView view = view_of(inputs[i], "tenon_run");
    if (!named.emplace(inputs[i].name, std::move(view)).second)
      throw user_error("[tenon_run] input \"{}\" is given twice", inputs[i].name);
  }
  model.last = nullptr;
  model.last = &model.graph.run_raw(named);
}

tenon_tensor output_of(const tenon_model& model, int index) {
  tenon_tensor output = describe(item(model.outputs, index, "tenon_get_output"));
  if (!model.last) throw user_error("[tenon_get_output] the model has not run, or its run failed");
  const tenon::TensorView& view = (*model.last)[static_cast<size_t>(index)];
  output.extents = view.shape.data();
  output.data = view.data;
  return output;
}

}  // namespace

const char* tenon_version(void) { return TENON_VERSION_STRING; }

const char* tenon_last_error(void) { return last_error.c_str(); }

tenon_status tenon_load(const char* path, const tenon_load_options* options, tenon_model** model) {
  return guarded([&] {
    given(model, "tenon_load", "model");
    tenon::LoadOptions how;
    if (options) how.threads = options->threads;
    if (options) how.check_weights = options->skip_weights == 0;
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

tenon_status tenon_set_param(tenon_model* model, const tenon_tensor* value) {
  constexpr const char* kName = "tenon_set_param";
  return guarded([&] {
    const tenon_tensor& tensor = given(value, kName, "value");
    const tenon::TensorView view = view_of(tensor, kName);
    given(model, kName, "model").graph.set_param(tensor.name, view);
  });
}

tenon_status tenon_run(tenon_model* model, const tenon_tensor* inputs, int input_count) {
  return guarded([&] { run(given(model, "tenon_run", "model"), inputs, input_count); });
}

tenon_status tenon_get_output(const tenon_model* model, int index, tenon_tensor* output) {
  constexpr const char* kName = "tenon_get_output";
  return guarded(
      [&] { given(output, kName, "output") = output_of(given(model, kName, "model"), index); });
}
