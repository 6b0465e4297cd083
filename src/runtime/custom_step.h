// A step that calls a function of the user's, between kernels. The views that it is given are made
// when the program is loaded, and filled in when it runs. Where the device has memory of its own,
// the host holds copies of the operands and results.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/device.h"
#include "runtime/dim_table.h"

namespace tenon::runtime {

class CustomStep {
 public:
  // `step` must outlive it; `around` numbers the symbols of its program.
  static Result<std::unique_ptr<CustomStep>> make(const program::HostStep& step,
                                                  std::shared_ptr<DeviceStream> stream,
                                                  const Variables& around);

  // One pointer to device memory per operand and result; values of the symbols. What the function
  // throws is the error. Allocates nothing after the first run of a shape.
  Status run(std::span<void* const> operands, std::span<void* const> results,
             std::span<const int64_t> variables, const std::stop_token& stop);
  bool cancelled() const {
    return cancelled_;
  }  // whether the last run ended because it was asked to

 private:
  struct Tensor {
    std::vector<int> extents;  // positions in dims_
    int64_t bytes = 0;
    std::vector<std::byte> copy;  // where the device has memory of its own
  };

  CustomStep(const program::HostStep& step, std::shared_ptr<DeviceStream> stream)
      : step_(&step), stream_(std::move(stream)) {}
  Tensor tensor_of(const TensorType& type);
  Status set_extents(Tensor& tensor, DType dtype, std::vector<int64_t>& shape) const;
  Status fill_views(std::span<void* const> operands, std::span<void* const> results);
  Status bring_operands(std::span<void* const> operands);
  Status send_results(std::span<void* const> results);
  Status call() const;

  const program::HostStep* step_;
  std::shared_ptr<DeviceStream> stream_;
  DimTable dims_;
  std::vector<Tensor> operands_, results_;
  std::vector<TensorView> inputs_;
  std::vector<MutableTensorView> outputs_;
  std::vector<int> told_;  // positions in dims_ of what the function is told
  std::vector<int64_t> told_values_;
  bool cancelled_ = false;
};

}  // namespace tenon::runtime
