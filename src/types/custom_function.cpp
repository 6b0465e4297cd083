// A custom function, and what its two halves throw as Errors with its name in front.
#include "tenon/custom_function.h"

#include <atomic>
#include <string_view>

#include "base/error.h"

namespace tenon {
namespace {

// What `call` gives; `half` says which of the two it was.
template <typename Call>
auto named(const std::string& name, const char* half, Call&& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    throw user_error("[custom {}] {}{}", name, half, error.what());
  } catch (...) {
    throw user_error("[custom {}] {}it threw something that is no std::exception", name, half);
  }
}

}  // namespace

size_t CustomCall::elements(const char* role, size_t index, DType wanted) const {
  const bool is_input = std::string_view(role) == "input";
  const size_t count = is_input ? inputs.size() : outputs.size();
  if (index >= count) throw user_error("there is no {} {}, only {}", role, index, count);
  const DType dtype = is_input ? inputs[index].dtype : outputs[index].dtype;
  if (dtype != wanted)
    throw user_error("{} {} is {}, not {}", role, index, to_string(dtype), to_string(wanted));
  int64_t elements = 1;
  for (const int64_t extent : is_input ? inputs[index].shape : outputs[index].shape)
    elements *= extent;
  return static_cast<size_t>(elements);
}

struct CustomFunction::Parts {
  std::string name;
  Infer infer;
  Run run;
  uint64_t id;
};

CustomFunction::CustomFunction(std::string name, Infer infer, Run run) {
  static std::atomic<uint64_t> made = 0;
  if (name.empty()) throw user_error("[custom] a custom function needs a name");
  if (!infer || !run)
    throw user_error("[custom {}] it needs a rule of shapes and a function to run", name);
  parts_ = std::make_shared<const Parts>(
      Parts{std::move(name), std::move(infer), std::move(run), made.fetch_add(1)});
}

const std::string& CustomFunction::name() const { return parts_->name; }
uint64_t CustomFunction::id() const { return parts_->id; }

std::vector<TensorType> CustomFunction::infer(std::span<const TensorType> inputs,
                                              std::span<const Dim> dims) const {
  return named(name(), "its rule of shapes: ", [&] { return parts_->infer(inputs, dims); });
}

void CustomFunction::run(const CustomCall& call) const {
  named(name(), "", [&] { parts_->run(call); });
}

}  // namespace tenon
