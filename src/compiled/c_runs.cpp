// Runs of the C API: by name and by slot, their options, and the active extent of a bucket.
#include <map>

#include "compiled/c_model.h"

using tenon::user_error;
using tenon::compiled::describe;
using tenon::compiled::given;
using tenon::compiled::guarded;
using tenon::compiled::item;
using tenon::compiled::items;

namespace {

void run(tenon_model& model, const tenon_tensor* inputs, int input_count) {
  tenon::NamedInputs named;
  for (const tenon_tensor& input : items(inputs, input_count, "tenon_run", "inputs")) {
    tenon::TensorView view = tenon::compiled::view_of(input, "tenon_run");
    if (!named.emplace(input.name, std::move(view)).second)
      throw user_error("[tenon_run] input \"{}\" is given twice", input.name);
  }
  model.last = nullptr;
  model.last = &model.graph.run_raw(named, model.options);
}

void run_slots(tenon_model& model, const tenon_bytes* inputs, int input_count) {
  model.slots.clear();
  for (const tenon_bytes& input : items(inputs, input_count, "tenon_run_slots", "inputs")) {
    if (input.size < 0 || (input.size > 0 && !input.data))
      throw user_error("[tenon_run_slots] {} bytes, and where they are is NULL", input.size);
    model.slots.emplace_back(static_cast<const std::byte*>(input.data),
                             static_cast<size_t>(input.size));
  }
  model.last = nullptr;
  model.graph.run_slots(model.slots, model.options);
  model.last = &model.graph.sync_pending();  // nothing is: the views of this run
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

tenon_status tenon_run(tenon_model* model, const tenon_tensor* inputs, int input_count) {
  return guarded([&] { run(given(model, "tenon_run", "model"), inputs, input_count); });
}

tenon_status tenon_get_output(const tenon_model* model, int index, tenon_tensor* output) {
  constexpr const char* kName = "tenon_get_output";
  return guarded(
      [&] { given(output, kName, "output") = output_of(given(model, kName, "model"), index); });
}

tenon_status tenon_set_extents(tenon_model* model, const tenon_extent* extents, int extent_count) {
  constexpr const char* kName = "tenon_set_extents";
  return guarded([&] {
    std::map<std::string, int64_t> values;
    for (const tenon_extent& extent : items(extents, extent_count, kName, "extents")) {
      if (!values.emplace(&given(extent.dim, kName, "a dim"), extent.value).second)
        throw user_error("[{}] \"{}\" is given twice", kName, extent.dim);
    }
    given(model, kName, "model").graph.set_extents(tenon::DimBinding(std::move(values)));
  });
}

tenon_status tenon_run_slots(tenon_model* model, const tenon_bytes* inputs, int input_count) {
  return guarded([&] { run_slots(given(model, "tenon_run_slots", "model"), inputs, input_count); });
}

tenon_status tenon_set_active_extent(tenon_model* model, int64_t actual, int64_t upper) {
  return guarded([&] {
    given(model, "tenon_set_active_extent", "model").graph.set_active_extent(actual, upper);
  });
}

tenon_status tenon_clear_active_extent(tenon_model* model) {
  return guarded(
      [&] { given(model, "tenon_clear_active_extent", "model").graph.clear_active_extent(); });
}

tenon_status tenon_make_stop(tenon_stop** stop) {
  return guarded([&] { given(stop, "tenon_make_stop", "stop") = new tenon_stop; });
}

void tenon_request_stop(tenon_stop* stop) {
  if (stop) stop->source.request_stop();
}

void tenon_free_stop(tenon_stop* stop) { delete stop; }

tenon_status tenon_set_run_options(tenon_model* model, const tenon_run_options* options) {
  constexpr const char* kName = "tenon_set_run_options";
  return guarded([&] {
    tenon::RunOptions how;
    if (options) how.memory_limit = options->memory_limit;
    if (how.memory_limit < 0)
      throw user_error("[{}] a memory limit of {} bytes makes no sense", kName, how.memory_limit);
    if (options && options->stop) how.stop = options->stop->source.get_token();
    given(model, kName, "model").options = std::move(how);
  });
}
