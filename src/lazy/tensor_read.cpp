// What a tensor is and holds: its type, where it lies, its elements.
#include "base/error.h"
#include "lazy/apply.h"
#include "runtime/io_view.h"

namespace tenon {
namespace {

using lazy::Access;
using lazy::Elements;
using lazy::Expression;

// An Error where there are none.
std::shared_ptr<const Elements> elements_of(const char* call, const Tensor& tensor) {
  const Expression& expression = Access::expression(tensor);
  auto elements = expression.elements(Access::result(tensor));
  if (elements) return elements;
  if (expression.is_plan_output())
    throw user_error("[{}] the tensor is the output of a plan that was not executed yet", call);
  throw user_error("[{}] the tensor is not realized: {}", call, tensor.type().to_string());
}

// bool is stored as bytes of 0 and 1.
bool reads_as(DType stored, DType wanted) {
  return stored == wanted || (stored == DType::Bool && wanted == DType::U8);
}

}  // namespace

const TensorType& Tensor::type() const { return Access::expression(*this).type(result_); }

Device Tensor::device() const { return Access::expression(*this).device().value_or(Device::Cpu()); }

bool Tensor::is_realized() const { return Access::expression(*this).elements(result_) != nullptr; }

bool Tensor::is_file() const {
  const auto elements = Access::expression(*this).elements(result_);
  return elements && elements->buffer->is_file();
}

std::string Tensor::name() const { return Access::expression(*this).name(); }

Tensor Tensor::to(const Device& device) const {
  const lazy::Operand from = Access::operand(*this);
  const auto there = from.expression->device();
  const bool is_leaf = !from.expression->operation();
  if (there == device || (is_leaf && !there && device == Device::Cpu())) return *this;
  lazy::Operation operation;
  operation.operands = {from};
  operation.copy_to = device;
  return Access::tensor(std::make_shared<const Expression>(
      std::vector<TensorType>{type()}, std::move(operation), from.expression->values()));
}

TensorView Tensor::host_view(const char* call, DType wanted, bool one) const {
  const auto elements = elements_of(call, *this);
  if (!reads_as(dtype(), wanted))
    throw user_error("[{}] the tensor is {}, not {}", call, type().to_string(),
                     tenon::to_string(wanted));
  const lazy::Buffer& buffer = *elements->buffer;
  buffer.check();
  if (!buffer.on_host())
    throw user_error("[{}] the tensor is on {}: copy it with to(Device::Cpu())", call,
                     tenon::to_string(buffer.device()));
  TensorView view;
  view.data = buffer.data();
  view.dtype = dtype();
  view.shape = elements->extents;
  view.elements = buffer.bytes() / size_of(dtype());
  if (one && view.elements != 1)
    throw user_error("[{}] the tensor has {} elements, not one: {}", call, view.elements,
                     type().to_string());
  return view;
}

template <>
std::vector<bool> Tensor::as_vec<bool>() const {
  const TensorView view = host_view("as_vec", DType::Bool);
  const auto* bytes = static_cast<const uint8_t*>(view.data);
  std::vector<bool> result;
  for (int64_t i = 0; i < view.elements; ++i) result.push_back(bytes[i] != 0);
  return result;
}

std::vector<int64_t> Tensor::extents() const { return elements_of("extents", *this)->extents; }

OwnedTensor Tensor::to_owned() const {
  const auto elements = elements_of("to_owned", *this);
  OwnedTensor result;
  result.dtype = dtype();
  result.shape = elements->extents;
  std::shared_ptr<const lazy::Buffer> from = elements->buffer;
  from->check();
  if (!from->on_host()) {
    const auto host = lazy::Buffer::allocate(Device::Cpu(), from->bytes());
    lazy::copy(*from, *host);
    from = host;
  }
  result.bytes.assign(from->data(), from->data() + from->bytes());
  return result;
}

}  // namespace tenon
