// Tensor: NumPy-like code that writes a graph. Nothing is computed before realize(); every call
// infers the type of its result, and what does not fit is an Error at the call that made it.
//
//   using tenon::Tensor;
//   Tensor x = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
//   Tensor y = (x * 2.0 + 1.0).softmax(-1);
//   y.realize();                                  // compiled at its first time, then looked up
//   std::vector<float> values = y.as_vec<float>();
//
// A Tensor is a handle: copies share what they stand for. Any thread may use any tensor that no
// other thread assigns to. Operands of different dtypes meet as in NumPy with weak scalars: bool <
// integers < floats, the wider of a kind, f32 for f16 with bf16 and for integers that are divided.
#pragma once

#include <concepts>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tenon/custom_function.h"
#include "tenon/device.h"
#include "tenon/execution_plan.h"
#include "tenon/graph.h"
#include "tenon/shape.h"
#include "tenon/tensor.h"
#include "tenon/variable.h"

namespace tenon {

namespace lazy {
class Expression;
struct Access;
}  // namespace lazy

// A number in an expression. It takes the dtype of the tensor that it meets; a fraction makes f32
// of integers.
class Scalar {
 public:
  template <typename T>
    requires std::is_arithmetic_v<T>
  Scalar(T value)  // NOLINT(google-explicit-constructor)
      : number_(static_cast<double>(value)),
        integer_(whole(value)),
        is_integer_(std::is_integral_v<T>) {}
  double number() const { return number_; }
  int64_t integer() const { return integer_; }  // where is_integer()
  bool is_integer() const { return is_integer_; }

 private:
  template <typename T>
  static int64_t whole(T value) {
    if constexpr (std::is_integral_v<T>) return static_cast<int64_t>(value);
    return 0;  // a fraction, or no number at all
  }
  double number_;
  int64_t integer_;
  bool is_integer_;
};

// A part of an axis, NumPy's start:stop:step. Negative bounds count from the end; nullopt: all of
// it on that side. Bounds beyond the axis are clamped where they are numbers.
struct Slice {
  std::optional<Extent> start = {}, stop = {};
  int64_t step = 1;
};
enum class Place { All, NewAxis, Rest };  // a whole axis; one of extent 1; all axes not named

// What stands for an axis in index(): a position, which drops it, a Slice, or a Place.
using Index = std::variant<Extent, Slice, Place>;

// What conv and pool take for their spatial axes; a list of one number is that for all of them.
struct WindowOptions {
  std::vector<int64_t> stride = {};    // {}: 1; of a pool: its window, side by side
  std::vector<int64_t> padding = {0};  // on both sides
  std::vector<int64_t> dilation = {1};
  int64_t groups = 1;  // of conv
};

struct TensorAttentionOptions {
  int64_t heads = 1;
  int64_t kv_heads = 0;  // 0: as many as heads
  double scale = 0;      // of the scores; 0: 1 / sqrt(head_dim)
  bool causal = false;   // query i sees key j where j <= i + keys - queries
};

struct TopK;

class Tensor {
 public:
  Tensor() : result_(0) {}  // no tensor: an operand that is left out
  explicit operator bool() const { return expression_ != nullptr; }

  // --- Made of data. Elements in row-major order, as many as the shape has; {}: a vector of them.
  template <typename T>
  static Tensor from(const std::vector<T>& values, const Extents& shape) {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements to read");
    return from(std::span<const T>(values), shape);
  }
  template <typename T>
  static Tensor from(const std::vector<T>& values) {
    return from(std::span<const T>(values), {values.size()});
  }
  template <typename T>
  static Tensor from(std::span<const T> values, const Extents& shape) {
    return copy_of(values.data(), values.size_bytes(), dtype_of<T>(), shape);
  }
  static Tensor from_bytes(std::span<const std::byte> bytes, DType dtype, const Extents& shape);
  // The caller's memory, not copied: it must stay as it is for as long as `owner`, or whatever is
  // computed from the tensor, lives.
  static Tensor wrap(const void* data, DType dtype, const Extents& shape,
                     std::shared_ptr<const void> owner = {});
  static Tensor load_npy(const std::string& path);  // copied
  // A part of a file, mapped: nothing is read before it is used, and then only the pages used.
  static Tensor map_file(const std::string& path, DType dtype, const Extents& shape,
                         int64_t offset = 0);
  static Tensor map_file(const std::string& path);  // all of it, as u8[bytes]

  // --- Made of nothing.
  static Tensor scalar(const Scalar& value, DType dtype);
  static Tensor full(const Extents& shape, const Scalar& value, DType dtype = DType::F32);
  static Tensor zeros(const Extents& shape, DType dtype = DType::F32);
  static Tensor ones(const Extents& shape, DType dtype = DType::F32);
  static Tensor arange(const Extent& stop);  // i64: 0, 1, ... stop - 1
  static Tensor arange(double start, double stop, double step, DType dtype = DType::F32);
  static Tensor linspace(double start, double stop, int64_t count, DType dtype = DType::F32);
  static Tensor eye(int64_t rows, int64_t columns = -1, DType dtype = DType::F32);
  // The same seed gives the same numbers, on every device.
  static Tensor rand(const Extents& shape, int64_t seed, DType dtype = DType::F32);   // in [0, 1)
  static Tensor randn(const Extents& shape, int64_t seed, DType dtype = DType::F32);  // normal
  static Tensor randint(const Extents& shape, int64_t low, int64_t high, int64_t seed);  // i64

  // --- What it is.
  const TensorType& type() const;  // of no tensor: an Error
  const Shape& shape() const { return type().shape; }
  DType dtype() const { return type().dtype; }
  int rank() const { return shape().rank(); }
  Device device() const;     // that it lies on, or will be computed on
  bool is_realized() const;  // whether its elements are there
  bool is_file() const;      // whether it is a view of a mapped file
  std::string name() const;  // of what made it: "matmul"

  // --- Any op of docs/ops.md, by the name it has there; operands must have the dtypes it wants.
  static std::vector<Tensor> op(std::string_view name, const std::vector<Tensor>& operands,
                                const Attributes& attributes = {});
  static Tensor op1(std::string_view name, const std::vector<Tensor>& operands,
                    const Attributes& attributes = {});

  // A function of the caller's, custom_function.h: a tensor for each of its results. `dims` are
  // evaluated in each execution.
  static std::vector<Tensor> custom(const CustomFunction& function,
                                    const std::vector<Tensor>& operands, const Extents& dims = {});

  // --- Elementwise.
  Tensor neg() const;
  Tensor abs() const;
  Tensor sign() const;
  Tensor sqrt() const;
  Tensor rsqrt() const;
  Tensor reciprocal() const;
  Tensor square() const;
  Tensor exp() const;
  Tensor exp2() const;
  Tensor expm1() const;
  Tensor log() const;
  Tensor log2() const;
  Tensor log1p() const;
  Tensor sin() const;
  Tensor cos() const;
  Tensor tan() const;
  Tensor asin() const;
  Tensor acos() const;
  Tensor atan() const;
  Tensor sinh() const;
  Tensor cosh() const;
  Tensor tanh() const;
  Tensor asinh() const;
  Tensor acosh() const;
  Tensor atanh() const;
  Tensor erf() const;
  Tensor floor() const;
  Tensor ceil() const;
  Tensor round() const;  // halves to even
  Tensor trunc() const;
  Tensor relu() const;
  Tensor gelu() const;  // by erf
  Tensor gelu_tanh() const;
  Tensor silu() const;
  Tensor sigmoid() const;
  Tensor softplus() const;
  Tensor leaky_relu(double slope = 0.01) const;
  Tensor elu(double alpha = 1) const;
  Tensor clamp(const std::optional<Scalar>& low, const std::optional<Scalar>& high) const;
  Tensor is_nan() const;
  Tensor is_inf() const;
  Tensor logical_not() const;
  Tensor cast(DType dtype) const;
  Tensor bit_cast(DType dtype) const;  // of the same size
  static Tensor where(const Tensor& condition, const Tensor& then, const Tensor& otherwise);
  static Tensor where(const Tensor& condition, const Tensor& then, const Scalar& otherwise);
  static Tensor where(const Tensor& condition, const Scalar& then, const Tensor& otherwise);

  Tensor pow(const Tensor& exponent) const;
  Tensor pow(const Scalar& exponent) const;
  Tensor minimum(const Tensor& other) const;
  Tensor minimum(const Scalar& other) const;
  Tensor maximum(const Tensor& other) const;
  Tensor maximum(const Scalar& other) const;
  Tensor floor_divide(const Tensor& other) const;  // rounds down
  Tensor floor_divide(const Scalar& other) const;
  Tensor mod(const Tensor& other) const;  // the sign of the divisor
  Tensor mod(const Scalar& other) const;

  // --- Movement. Axes below 0 count from the end.
  Tensor reshape(const Extents& shape) const;  // one extent may be -1: what is left
  Tensor flatten(int64_t first = 0, int64_t last = -1) const;
  Tensor squeeze(std::optional<int64_t> axis = {}) const;  // nullopt: every axis of extent 1
  Tensor unsqueeze(int64_t axis) const;
  Tensor permute(const std::vector<int64_t>& axes) const;
  Tensor transpose(int64_t a = -2, int64_t b = -1) const;  // swaps two axes
  Tensor expand(const Extents& shape) const;               // broadcast to it; -1 keeps an extent
  // How much before and after each axis, as many pairs as axes.
  Tensor pad(const std::vector<std::pair<Extent, Extent>>& pads, const Scalar& value = 0) const;
  // From begin to end (not reached) along each axis; axes that are left out stay whole.
  Tensor shrink(const std::vector<std::pair<Extent, Extent>>& ranges) const;
  Tensor flip(const std::vector<int64_t>& axes) const;
  Tensor index(const std::vector<Index>& index) const;  // NumPy's basic indexing
  Tensor operator[](const Extent& position) const { return index({position}); }
  Tensor operator[](const Slice& slice) const { return index({slice}); }
  Tensor slice(int64_t axis, const Slice& slice) const;
  static Tensor concat(const std::vector<Tensor>& parts, int64_t axis = 0);
  static Tensor stack(const std::vector<Tensor>& parts, int64_t axis = 0);
  std::vector<Tensor> split(const std::vector<int64_t>& extents, int64_t axis = 0) const;
  std::vector<Tensor> chunk(int64_t parts, int64_t axis = 0) const;  // the last may be shorter
  Tensor repeat(const std::vector<int64_t>& times) const;            // NumPy's tile
  Tensor roll(int64_t shift, int64_t axis) const;
  Tensor tril(int64_t diagonal = 0) const;
  Tensor triu(int64_t diagonal = 0) const;

  // --- Reductions, over all axes where none are named. Integers and bools are summed as i64.
  Tensor sum(const std::vector<int64_t>& axes = {}, bool keep = false) const;
  Tensor mean(const std::vector<int64_t>& axes = {}, bool keep = false) const;
  Tensor max(const std::vector<int64_t>& axes = {}, bool keep = false) const;
  Tensor min(const std::vector<int64_t>& axes = {}, bool keep = false) const;
  Tensor prod(const std::vector<int64_t>& axes = {}, bool keep = false) const;
  Tensor any(const std::vector<int64_t>& axes = {}, bool keep = false) const;
  Tensor all(const std::vector<int64_t>& axes = {}, bool keep = false) const;
  Tensor var(const std::vector<int64_t>& axes = {}, bool keep = false, int64_t less = 0) const;
  Tensor std(const std::vector<int64_t>& axes = {}, bool keep = false, int64_t less = 0) const;
  Tensor logsumexp(const std::vector<int64_t>& axes = {}, bool keep = false) const;
  Tensor argmax(int64_t axis, bool keep = false) const;  // i64, the first of equals
  Tensor argmin(int64_t axis, bool keep = false) const;
  Tensor cumsum(int64_t axis) const;
  Tensor cumprod(int64_t axis) const;

  // --- Products.
  Tensor matmul(const Tensor& other) const;  // NumPy's rule for ranks
  static Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands);
  Tensor linear(const Tensor& weight, const Tensor& bias = {}) const;  // weight [out, in]
  // x [batch, in, axes...], weight [out, in / groups, kernel...], bias [out].
  Tensor conv(const Tensor& weight, const Tensor& bias = {},
              const WindowOptions& options = {}) const;
  Tensor max_pool(const std::vector<int64_t>& kernel, const WindowOptions& options = {}) const;
  Tensor avg_pool(const std::vector<int64_t>& kernel, const WindowOptions& options = {}) const;

  // --- Layers.
  Tensor softmax(int64_t axis = -1) const;
  Tensor log_softmax(int64_t axis = -1) const;
  Tensor layer_norm(const Tensor& scale = {}, const Tensor& bias = {},
                    double epsilon = 1e-5) const;  // the last axis
  Tensor rms_norm(const Tensor& scale = {}, double epsilon = 1e-5) const;
  // Per channel, axis 1.
  Tensor batch_norm(const Tensor& mean, const Tensor& variance, const Tensor& scale = {},
                    const Tensor& bias = {}, double epsilon = 1e-5) const;
  Tensor group_norm(int64_t groups, const Tensor& scale = {}, const Tensor& bias = {},
                    double epsilon = 1e-5) const;
  // This is q [batch, queries, heads*head_dim]; k and v [batch, keys, kv_heads*head_dim]. `mask` is
  // added to the scores; it broadcasts to [batch, heads, queries, keys].
  Tensor attention(const Tensor& k, const Tensor& v, const TensorAttentionOptions& options,
                   const Tensor& mask = {}) const;

  // --- By position. Negative ones count from the end; one outside is an Error of the run.
  Tensor take(const Tensor& indices, int64_t axis = 0) const;  // whole slices of the axis
  Tensor gather(const Tensor& indices, int64_t axis) const;    // take_along_axis
  // This with elements of `updates` at these positions; of equal positions the last one counts.
  Tensor scatter(const Tensor& indices, const Tensor& updates, int64_t axis) const;
  Tensor scatter_add(const Tensor& indices, const Tensor& updates, int64_t axis) const;
  Tensor one_hot(int64_t classes, DType dtype = DType::F32) const;
  Tensor sort(int64_t axis = -1, bool descending = false) const;  // equal elements keep their order
  Tensor argsort(int64_t axis = -1, bool descending = false) const;
  TopK topk(int64_t count, int64_t axis = -1, bool largest = true) const;

  // --- Devices and views.
  Tensor to(const Device& device) const;  // copied there when it is realized; itself if it is there
  // Bytes of a tensor that has its elements, as another type: no copy. Outside of it is an Error.
  Tensor view_bytes(DType dtype, const Extents& shape, int64_t offset = 0) const;

  // --- Computing. docs/lazy.md.
  const Tensor& realize() const;  // does nothing where the elements are there
  const Tensor& realize_with(const PrepareConfig& config) const;
  ExecutionPlan prepare();  // from here on this handle reads the plan's output
  ExecutionPlan prepare_with(const PrepareConfig& config);

  // --- Reading, of a realized tensor; another dtype is an Error. bool is read as bool or uint8_t.
  template <typename T>
  std::vector<T> as_vec() const {
    const TensorView view = host_view("as_vec", dtype_of<T>());
    const T* const elements = static_cast<const T*>(view.data);
    return {elements, elements + view.elements};
  }
  // The elements where they lie: on the host, for as long as the tensor lives; of a plan's output
  // until it is executed again.
  template <typename T>
  std::span<const T> array_view() const {
    const TensorView view = host_view("array_view", dtype_of<T>());
    return {static_cast<const T*>(view.data), static_cast<size_t>(view.elements)};
  }
  template <typename T>
  T item() const {  // of one element
    const TensorView view = host_view("item", dtype_of<T>(), true);
    return *static_cast<const T*>(view.data);
  }
  std::vector<int64_t> extents() const;  // of a realized tensor: numbers
  OwnedTensor to_owned() const;          // a copy, from whatever device it is on
  void save_npy(const std::string& path) const;
  // The elements where it is realized, shortened as NumPy does.
  std::string to_string() const;

 private:
  friend struct lazy::Access;
  explicit Tensor(std::shared_ptr<const lazy::Expression> expression, int result = 0)
      : expression_(std::move(expression)), result_(result) {}
  static Tensor copy_of(const void* data, size_t bytes, DType dtype, const Extents& shape);
  // `wanted`: what it must be.
  TensorView host_view(const char* call, DType wanted, bool one = false) const;

  std::shared_ptr<const lazy::Expression> expression_;
  int result_;
};

template <>
std::vector<bool> Tensor::as_vec<bool>() const;

struct TopK {
  Tensor values, indices;  // i64
};

// Computes all of them, work that they share once. Those that have their elements, or no elements,
// need nothing. A variable that has two values anywhere in them is an Error.
void realize_batch(const std::vector<Tensor>& tensors);
void realize_batch_with(const std::vector<Tensor>& tensors, const PrepareConfig& config);
// A plan that computes those that are not realized yet; they read its outputs from here on. Where
// all are realized, the Error is "empty schedule".
ExecutionPlan prepare_batch(const std::vector<Tensor*>& tensors);
ExecutionPlan prepare_batch_with(const std::vector<Tensor*>& tensors, const PrepareConfig& config);

#define TENON_TENSOR_OPERATOR(op)                       \
  Tensor operator op(const Tensor& a, const Tensor& b); \
  Tensor operator op(const Tensor& a, const Scalar& b); \
  Tensor operator op(const Scalar& a, const Tensor& b);
TENON_TENSOR_OPERATOR(+)
TENON_TENSOR_OPERATOR(-)
TENON_TENSOR_OPERATOR(*)
TENON_TENSOR_OPERATOR(/)  // of integers: f32
TENON_TENSOR_OPERATOR(%)  // the sign of the divisor
TENON_TENSOR_OPERATOR(==)
TENON_TENSOR_OPERATOR(!=)
TENON_TENSOR_OPERATOR(<)
TENON_TENSOR_OPERATOR(<=)
TENON_TENSOR_OPERATOR(>)
TENON_TENSOR_OPERATOR(>=)
TENON_TENSOR_OPERATOR(&)  // of bools and integers
TENON_TENSOR_OPERATOR(|)
TENON_TENSOR_OPERATOR(^)
TENON_TENSOR_OPERATOR(<<)
TENON_TENSOR_OPERATOR(>>)
#undef TENON_TENSOR_OPERATOR
Tensor operator-(const Tensor& x);
Tensor operator~(const Tensor& x);  // of bools: not
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace tenon
