// CustomFunction: a C++ function as an op of a graph.
//
//   const tenon::CustomFunction clip(
//       "clip", [](auto inputs, auto) { return std::vector{inputs[0]}; },
//       [](const tenon::CustomCall& call) {
//         const auto x = call.input<float>(0);
//         std::ranges::transform(x, call.output<float>(0).begin(),
//                                [](float v) { return std::clamp(v, 0.f, 6.f); });
//       });
//   tenon::Value y = g.custom(clip, {x})[0];
//
// docs/custom_functions.md says when it is called, and with what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tenon/shape.h"
#include "tenon/tensor.h"

namespace tenon {

// What one call is given: dense memory of the host, in the order of the operands and of the
// results. It is good until the call returns.
struct CustomCall {
  std::span<const TensorView> inputs;
  std::span<const MutableTensorView> outputs;
  std::span<const int64_t> dims;  // the values of the Dims that the function was applied with

  // The elements of one of them. One that is not there is an Error, so is another dtype.
  template <typename T>
  std::span<const T> input(size_t index) const {
    const size_t count = elements("input", index, dtype_of<T>());
    return {static_cast<const T*>(inputs[index].data), count};
  }
  template <typename T>
  std::span<T> output(size_t index) const {
    const size_t count = elements("output", index, dtype_of<T>());
    return {static_cast<T*>(outputs[index].data), count};
  }

 private:
  size_t elements(const char* role, size_t index, DType wanted) const;
};

// Cheap to copy; a graph and what is compiled of it keep the two functions alive. Equal are copies
// of one another. Two graphs are the same to a cache where they have the same functions: make one
// once and copy it.
class CustomFunction {
 public:
  // The types of the results, by those of the operands and the Dims. Extents are made of the
  // symbols of these alone. It is asked more than once, while graphs are built and compiled, and
  // must say the same of the same.
  using Infer = std::function<std::vector<TensorType>(std::span<const TensorType> inputs,
                                                      std::span<const Dim> dims)>;
  // Writes every element of every result. Graphs that run at the same time call it at the same
  // time.
  using Run = std::function<void(const CustomCall& call)>;

  CustomFunction(std::string name, Infer infer, Run run);

  const std::string& name() const;
  bool operator==(const CustomFunction& other) const { return parts_ == other.parts_; }

  // Whatever the functions throw becomes an Error that begins with "[custom NAME]".
  std::vector<TensorType> infer(std::span<const TensorType> inputs,
                                std::span<const Dim> dims) const;
  void run(const CustomCall& call) const;
  uint64_t id() const;  // no other function of this process has it, or had it

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace tenon
