// A tensor as text: its type, and its elements where they are there. Long axes are shortened in the
// middle, as NumPy does.
#include <fmt/format.h>

#include <cmath>
#include <ostream>

#include "lazy/apply.h"

namespace tenon {
namespace {

constexpr int64_t kEdge = 3;         // shown at each end of an axis that is shortened
constexpr int64_t kMostShown = 200;  // elements; more are shortened
constexpr int kDigits = 6;

std::string element(DType dtype, const std::byte* at) {
  switch (info(dtype).kind) {
    case DTypeKind::Bool:
      return *at == std::byte{0} ? "false" : "true";
    case DTypeKind::Float:
      return std::isnan(load_as_f64(dtype, at))  // of either sign
                 ? "nan"
                 : fmt::format("{:.{}g}", load_as_f64(dtype, at), kDigits);
    case DTypeKind::Signed:
      if (dtype == DType::I64) return fmt::format("{}", *reinterpret_cast<const int64_t*>(at));
      break;
    case DTypeKind::Unsigned:
      if (dtype == DType::U64) return fmt::format("{}", *reinterpret_cast<const uint64_t*>(at));
      break;
  }
  return fmt::format("{}", static_cast<int64_t>(load_as_f64(dtype, at)));
}

class Printer {
 public:
  Printer(DType dtype, const std::vector<int64_t>& extents, const std::byte* data, bool shortened)
      : dtype_(dtype), extents_(extents), data_(data), shortened_(shortened) {}

  std::string text() {
    rows(0);
    return std::move(text_);
  }

 private:
  // Depth is that of the shape.
  void rows(size_t axis) {
    if (axis == extents_.size()) {
      text_ += element(dtype_, data_ + at_++ * size_of(dtype_));
      return;
    }
    int64_t inner = 1;
    for (size_t i = axis + 1; i < extents_.size(); ++i) inner *= extents_[i];
    const bool is_row = axis + 1 == extents_.size();
    const std::string between = is_row ? ", " : ",\n" + std::string(axis + 1, ' ');
    text_ += '[';
    for (int64_t i = 0; i < extents_[axis]; ++i) {
      if (i > 0) text_ += between;
      if (shortened_ && i == kEdge && extents_[axis] > 2 * kEdge) {
        const int64_t skipped = extents_[axis] - 2 * kEdge;
        text_ += "..." + between;
        at_ += skipped * inner;
        i += skipped;
      }
      rows(axis + 1);
    }
    text_ += ']';
  }

  DType dtype_;
  const std::vector<int64_t>& extents_;
  const std::byte* data_;
  bool shortened_;
  int64_t at_ = 0;
  std::string text_;
};

}  // namespace

std::string Tensor::to_string() const {
  if (!*this) return "Tensor()";
  const std::string head = fmt::format("Tensor({}", type().to_string());
  if (!is_realized()) return fmt::format("{}, {}, not realized)", head, name());
  const std::vector<int64_t> numbers = extents();
  int64_t count = 1;
  for (const int64_t extent : numbers) count *= extent;
  const auto elements = lazy::Access::expression(*this).elements(result_);
  elements->buffer->check();
  const bool on_host = elements->buffer->on_host();  // then only what is shown is read
  const OwnedTensor copied = on_host ? OwnedTensor() : to_owned();
  const std::byte* const data = on_host ? elements->buffer->data() : copied.bytes.data();
  const bool nothing = count == 0;
  const std::string body =
      nothing ? "[]" : Printer(dtype(), numbers, data, count > kMostShown).text();
  return fmt::format("{}{}{})", head, numbers.size() > 1 && !nothing ? ",\n" : ", ", body);
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << tensor.to_string();
}

}  // namespace tenon
