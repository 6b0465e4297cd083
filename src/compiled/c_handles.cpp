// Handles of the C API: inputs that stay on the device between runs, and forks of them.
#include "compiled/c_model.h"

using tenon::compiled::given;
using tenon::compiled::guarded;

namespace {

tenon_tensor read(tenon_model& model, const char* name) {
  constexpr const char* kName = "tenon_read_handle";
  auto value = model.graph.read_handle(&given(name, kName, "name"));
  if (!value) throw tenon::user_error("[{}] \"{}\" has no handle", kName, name);
  const tenon::OwnedTensor& kept = model.read.emplace(std::move(*value));
  return {kept.name.c_str(), static_cast<tenon_dtype>(info(kept.dtype).onnx),
          static_cast<int>(kept.shape.size()), kept.shape.data(), kept.bytes.data()};
}

tenon_tensor describe_fork(const tenon::Handle& fork) {
  return {nullptr, static_cast<tenon_dtype>(info(fork.dtype()).onnx),
          static_cast<int>(fork.shape().size()), fork.shape().data(), nullptr};
}

}  // namespace

tenon_status tenon_bind_handle(tenon_model* model, const tenon_tensor* value) {
  constexpr const char* kName = "tenon_bind_handle";
  return guarded([&] {
    const tenon_tensor& tensor = given(value, kName, "value");
    const tenon::TensorView view = tenon::compiled::view_of(tensor, kName);
    given(model, kName, "model").graph.bind_handle(tensor.name, view);
  });
}

tenon_status tenon_bind_fork(tenon_model* model, const char* name, const tenon_handle* fork) {
  constexpr const char* kName = "tenon_bind_fork";
  return guarded([&] {
    const tenon::Handle& handle = given(fork, kName, "fork").handle;
    given(model, kName, "model").graph.bind_handle(&given(name, kName, "name"), handle);
  });
}

tenon_status tenon_unbind_handle(tenon_model* model, const char* name) {
  constexpr const char* kName = "tenon_unbind_handle";
  return guarded(
      [&] { given(model, kName, "model").graph.unbind_handle(&given(name, kName, "name")); });
}

int tenon_has_handle(const tenon_model* model, const char* name) {
  int has = 0;
  const tenon_status status =
      guarded([&] { has = model && name && model->graph.has_handle(name) ? 1 : 0; });
  return status == TENON_OK ? has : 0;
}

tenon_status tenon_read_handle(tenon_model* model, const char* name, tenon_tensor* value) {
  constexpr const char* kName = "tenon_read_handle";
  return guarded([&] {
    tenon_tensor& to = given(value, kName, "value");
    to = read(given(model, kName, "model"), name);
  });
}

tenon_status tenon_trim_handle(tenon_model* model, const char* name, int64_t length) {
  constexpr const char* kName = "tenon_trim_handle";
  return guarded(
      [&] { given(model, kName, "model").graph.trim_handle(&given(name, kName, "name"), length); });
}

tenon_status tenon_fork_handle(tenon_model* model, const char* name, tenon_handle** fork) {
  constexpr const char* kName = "tenon_fork_handle";
  return guarded([&] {
    given(fork, kName, "fork");
    tenon::Handle handle =
        given(model, kName, "model").graph.fork_handle(&given(name, kName, "name"));
    *fork = new tenon_handle{std::move(handle)};
  });
}

tenon_status tenon_describe_fork(const tenon_handle* fork, tenon_tensor* description) {
  constexpr const char* kName = "tenon_describe_fork";
  return guarded([&] {
    given(description, kName, "description") = describe_fork(given(fork, kName, "fork").handle);
  });
}

void tenon_free_fork(tenon_handle* fork) { delete fork; }

tenon_status tenon_set_handle_feed(tenon_model* model, const char* name, const char* output) {
  constexpr const char* kName = "tenon_set_handle_feed";
  return guarded([&] {
    std::optional<std::string> from;
    if (output) from = output;
    given(model, kName, "model").graph.set_handle_feed(&given(name, kName, "name"), from);
  });
}
