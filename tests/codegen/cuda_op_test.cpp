// Every pointwise op of every dtype, and every cast that GPUs have, in CUDA C++, against the
// interpreter: one kernel per dtype with a result for each op.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/codegen/cuda_kernel.h"
#include "tests/kernel/cast_samples.h"

namespace tenon::cuda_test {
namespace {

using kernel::Op;

constexpr DType kComputed[] = {DType::Bool, DType::U8,  DType::U16, DType::U32,
                               DType::U64,  DType::I8,  DType::I16, DType::I32,
                               DType::I64,  DType::F32, DType::F64};

// Whether the op takes operands of the dtype; f64 has no ops on bits of its own.
bool takes(Op op, DType dtype) {
  const bool of_floats = op == Op::Sqrt || op == Op::Round || op == Op::Floor;
  const bool of_f32 = op == Op::Pow2 || op == Op::Exponent || op == Op::Mantissa || op == Op::Scale;
  const bool of_integers = op == Op::BitAnd || op == Op::BitOr || op == Op::BitXor ||
                           op == Op::ShiftLeft || op == Op::ShiftRight;
  const bool of_bools = op == Op::Not || op == Op::And || op == Op::Or;
  if (op == Op::Equal || op == Op::Select) return true;
  if (of_f32) return dtype == DType::F32;
  if (of_floats) return is_float(dtype);
  if (of_integers) return is_integer(dtype);
  return of_bools == (dtype == DType::Bool);
}

std::vector<Op> ops_of(DType dtype) {
  std::vector<Op> result;
  for (size_t i = 0; i < std::size(kernel::kOps); ++i) {
    const Op op = static_cast<Op>(i);
    const bool is_plain = kernel::has(op, kernel::kPointwise) &&
                          !kernel::has(op, kernel::kExpanded) && !kernel::has(op, kernel::kOnCpu) &&
                          op != Op::Cast && op != Op::BitCast;
    if (is_plain && takes(op, dtype)) result.push_back(op);
  }
  return result;
}

// Operands x[i], x[i + 1], x[i + 2]; those of a power and a scale are small and integral.
std::string call(Op op, const std::string& type) {
  const std::string at[] = {"x[i*32 + t]", "x[i*32 + t + 1]", "x[i*32 + t + 2]"};
  const std::string exponent = "round(max(min(x[i*32 + t + 1], f32(100)), f32(-100)))";
  if (op == Op::Pow2) return fmt::format("pow2({})", exponent);
  if (op == Op::Scale)
    return fmt::format("scale(max(f32(-8), min(f32(8), x[i*32 + t])), {})", exponent);
  if (op == Op::Select)
    return fmt::format("select(eq({}, {}(0)), {}, {})", at[0], type, at[1], at[2]);
  std::string text = std::string(kernel::info(op).text) + "(";
  for (int i = 0; i < kernel::info(op).operands; ++i) text += (i > 0 ? ", " : "") + at[i];
  return text + ")";
}

// NaNs of any bits are equal.
bool same(DType dtype, const std::byte* a, const std::byte* b) {
  if (std::memcmp(a, b, static_cast<size_t>(size_of(dtype))) == 0) return true;
  return is_float(dtype) && std::isnan(load_as_f64(dtype, a)) && std::isnan(load_as_f64(dtype, b));
}

// The body for each of n elements, i*32 + t.
kernel::Kernel element_kernel(DType dtype, int64_t n, int64_t elements, const std::string& buffers,
                              const std::string& body) {
  return kernel::parse(
      fmt::format("kernel elements gpu\n  buffer x: {}[{}] global argument 0\n{}  thread b in 1\n"
                  "    together t in 32\n      loop i in {}\n"
                  "        loop once in max(min({} - i*32 - t, 1), 0)\n{}",
                  to_string(dtype), elements, buffers, (n + 31) / 32, n, body));
}

// Which result, and where, is not the interpreter's.
std::optional<std::pair<size_t, size_t>> first_wrong(const kernel::Kernel& kernel,
                                                     std::vector<Bytes> memory,
                                                     const std::vector<DType>& results) {
  EXPECT_TRUE(is_taken_by_nvrtc(kernel));
  std::vector<Bytes> expected = memory;
  interpret(kernel, expected, {});
  uint64_t fault[4] = {};
  HostKernel(kernel).run(memory, {}, 1, false, fault);
  for (size_t r = 0; r < results.size(); ++r) {
    const auto bytes = static_cast<size_t>(size_of(results[r]));
    for (size_t i = 0; i < memory[r + 1].size(); i += bytes) {
      if (!same(results[r], &memory[r + 1][i], &expected[r + 1][i])) return std::pair(r, i / bytes);
    }
  }
  return std::nullopt;
}

TEST(CudaOp, EveryOpOfEveryDType) {
  for (const DType dtype : kComputed) {
    const std::string type(to_string(dtype));
    const Bytes all = kernel_test::cast_samples(dtype);
    const auto size = static_cast<size_t>(size_of(dtype));
    const Bytes x(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(
                                                 std::min(all.size() / size, size_t{700}) * size));
    const int64_t n = static_cast<int64_t>(x.size() / size) - 2;
    std::string buffers, body;
    std::vector<Bytes> memory = {x};
    std::vector<DType> results;
    for (const Op op : ops_of(dtype)) {
      const DType result = kernel::has(op, kernel::kBoolResult) ? DType::Bool : dtype;
      results.push_back(result);
      memory.emplace_back(static_cast<size_t>(n * size_of(result)));
      buffers += fmt::format("  buffer y{0}: {1}[{2}] global argument {0} written\n",
                             results.size(), to_string(result), n);
      body += fmt::format("          y{}[i*32 + t] = {}\n", results.size(), call(op, type));
    }
    const kernel::Kernel kernel = element_kernel(dtype, n, n + 2, buffers, body);
    const auto wrong = first_wrong(kernel, memory, results);
    EXPECT_FALSE(wrong) << type << " " << kernel::info(ops_of(dtype)[wrong->first]).text << " at "
                        << wrong->second;
  }
}

TEST(CudaOp, EveryPlainCast) {
  for (const DType from : kernel_test::all_dtypes()) {
    const Bytes x = kernel_test::cast_samples(from);
    const auto n = static_cast<int64_t>(x.size()) / size_of(from);
    std::string buffers, body;
    std::vector<Bytes> memory = {x};
    std::vector<DType> results;
    for (const DType to : kernel_test::all_dtypes()) {
      if (from == to || !kernel::is_plain_cast_on_gpu(from, to)) continue;
      results.push_back(to);
      memory.emplace_back(static_cast<size_t>(n * size_of(to)));
      buffers += fmt::format("  buffer y{0}: {1}[{2}] global argument {0} written\n",
                             results.size(), to_string(to), n);
      body += fmt::format("          y{}[i*32 + t] = cast({}, x[i*32 + t])\n", results.size(),
                          to_string(to));
    }
    if (results.empty()) continue;
    const kernel::Kernel kernel = element_kernel(from, n, n, buffers, body);
    const auto wrong = first_wrong(kernel, memory, results);
    EXPECT_FALSE(wrong) << to_string(from) << " to " << to_string(results[wrong->first]) << " at "
                        << wrong->second;
  }
}

}  // namespace
}  // namespace tenon::cuda_test
