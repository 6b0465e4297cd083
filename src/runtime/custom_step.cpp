#include "runtime/custom_step.h"

#include "runtime/io_view.h"

namespace tenon::runtime {

CustomStep::Tensor CustomStep::tensor_of(const TensorType& type) {
  Tensor tensor;
  for (const Dim& extent : type.shape) tensor.extents.push_back(dims_.add(extent));
  return tensor;
}

Result<std::unique_ptr<CustomStep>> CustomStep::make(const program::HostStep& step,
                                                     std::shared_ptr<DeviceStream> stream,
                                                     const Variables& around) {
  std::unique_ptr<CustomStep> custom(new CustomStep(step, std::move(stream)));
  custom->dims_ = DimTable(around);
  for (const auto& [buffer, type] : step.operands) {
    custom->operands_.push_back(custom->tensor_of(type));
    custom->inputs_.emplace_back(nullptr, type.dtype, std::vector<int64_t>(type.shape.rank()));
  }
  for (const auto& [buffer, type] : step.results) {
    custom->results_.push_back(custom->tensor_of(type));
    custom->outputs_.push_back({nullptr, type.dtype, std::vector<int64_t>(type.shape.rank())});
  }
  for (const Dim& dim : step.dims) custom->told_.push_back(custom->dims_.add(dim));
  custom->told_values_.resize(step.dims.size());
  if (!custom->dims_.unknown_symbol().empty())
    return internal_error("[program] host step '{}' depends on {}, which nothing defines",
                          step.origin, custom->dims_.unknown_symbol());
  return custom;
}

Status CustomStep::set_extents(Tensor& tensor, DType dtype, std::vector<int64_t>& shape) const {
  for (size_t axis = 0; axis < shape.size(); ++axis) shape[axis] = dims_[tensor.extents[axis]];
  const Result<int64_t> bytes = dense_bytes(dtype, shape);
  if (!bytes) return bytes.error();
  tensor.bytes = bytes.value();
  if (!stream_->shares_host_memory()) tensor.copy.resize(static_cast<size_t>(tensor.bytes));
  return {};
}

Status CustomStep::fill_views(std::span<void* const> operands, std::span<void* const> results) {
  const bool shared = stream_->shares_host_memory();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (Status status = set_extents(operands_[i], inputs_[i].dtype, inputs_[i].shape); !status.ok())
      return status;
    inputs_[i].data = shared ? operands[i] : operands_[i].copy.data();
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (Status status = set_extents(results_[i], outputs_[i].dtype, outputs_[i].shape);
        !status.ok())
      return status;
    outputs_[i].data = shared ? results[i] : results_[i].copy.data();
  }
  for (size_t i = 0; i < told_.size(); ++i) told_values_[i] = dims_[told_[i]];
  return {};
}

Status CustomStep::bring_operands(std::span<void* const> operands) {
  for (size_t i = 0; i < operands.size() && !stream_->shares_host_memory(); ++i) {
    Tensor& tensor = operands_[i];
    if (Status status = stream_->copy_out(tensor.copy.data(), operands[i], tensor.bytes);
        !status.ok())
      return status;
  }
  return stream_->synchronize();  // and what is before it has ended well
}

Status CustomStep::send_results(std::span<void* const> results) {
  for (size_t i = 0; i < results.size() && !stream_->shares_host_memory(); ++i) {
    const Tensor& tensor = results_[i];
    if (Status status = stream_->copy_in(results[i], tensor.copy.data(), tensor.bytes);
        !status.ok())
      return status;
  }
  return {};
}

Status CustomStep::call() const {
  try {
    step_->function->run({inputs_, outputs_, told_values_});
    return {};
  } catch (const Error& error) {
    return error;
  }
}

Status CustomStep::run(std::span<void* const> operands, std::span<void* const> results,
                       std::span<const int64_t> variables, const std::stop_token& stop) {
  if (!dims_.evaluate(variables))
    return user_error("{}: extents are too large to compute with", step_->origin);
  if (Status status = fill_views(operands, results); !status.ok()) return status;
  if (Status status = bring_operands(operands); !status.ok()) return status;
  cancelled_ = stop.stop_requested();
  if (cancelled_) return user_error("[run] cancelled");
  if (Status status = call(); !status.ok()) return status;
  return send_results(results);
}

}  // namespace tenon::runtime
