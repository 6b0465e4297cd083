// Tiles of matrix products in CUDA C++: by fma and by tensor cores, staged one step after the other
// or several ahead, against the interpreter.
#include "tests/codegen/cuda_kernel.h"

namespace tenon::cuda_test {
namespace {

using kernel::parse;

// Small integers: exact in every float and in every order.
std::vector<float> small(size_t count) {
  std::vector<float> result(count);
  for (size_t i = 0; i < count; ++i)
    result[i] = static_cast<float>(static_cast<int>(i * 37 % 11) - 5);
  return result;
}
Bytes small_of(DType dtype, size_t count) {
  Bytes result(count * static_cast<size_t>(size_of(dtype)));
  const auto values = small(count);
  for (size_t i = 0; i < count; ++i) {
    store_from_f64(dtype, result.data() + i * static_cast<size_t>(size_of(dtype)),
                   static_cast<double>(values[i]));
  }
  return result;
}

bool has(const kernel::Kernel& kernel, std::string_view text) {
  return codegen::cuda::Emitter(kernel).emit().find(text) != std::string::npos;
}

TEST(CudaTile, ByFma) {
  const kernel::Kernel kernel = parse(R"(kernel product gpu dims n: 1..64
  buffer a: f32[2048] global argument 0
  buffer b: f32[2048] global argument 1
  buffer c: f32[1024] global argument 2 written
  buffer sa: f32[320] shared
  buffer sb: f32[288] shared
  buffer acc: f32[16] register
  thread w in 1
    together t in 64
      unroll e in 16
        acc[e] = f32(0)
    loop ks in 8
      together t in 64
        unroll u in 4
          sa[floordiv(t, 8)*36 + (t - floordiv(t, 8)*8)*4 + u] = a[floordiv(t, 8)*32 + ks*256 + (t - floordiv(t, 8)*8)*4 + u]
          sb[floordiv(t, 8)*36 + (t - floordiv(t, 8)*8)*4 + u] = b[floordiv(t, 8)*32 + ks*256 + (t - floordiv(t, 8)*8)*4 + u]
      barrier
      tile fma t in 64, e in 16 at floordiv(t, 8)*4 + floordiv(e, 4), (t - floordiv(t, 8)*8)*4 + e - floordiv(e, 4)*4
        i in 32, j in 32, k in 8: acc += sa[i + k*36] * sb[j + k*36]
      barrier
    together t in 64
      unroll e in 16
        c[floordiv(t, 8)*128 + floordiv(e, 4)*32 + (t - floordiv(t, 8)*8)*4 + e - floordiv(e, 4)*4] = acc[e]
)");
  EXPECT_TRUE(has(kernel, "load_lanes<f32, 4>(sa_"));
  std::vector<float> x(2048);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.3f * static_cast<float>(i % 17) - 1.1f;
  expect_same(kernel, {bytes_of(x), bytes_of(x), bytes_of(std::vector<float>(1024))}, {{3}});
}

// A tile of 32 x 32 of two warps, each with 32 x 16; steps of 16 of k. `lay` says along what the
// operands lie.
struct Lay {
  DType dtype;
  bool a_along_k, b_along_k;
};
kernel::Kernel staged(const Lay& lay, int depth, bool async, const char* guard) {
  const int lanes = 16 / static_cast<int>(size_of(lay.dtype));
  const int step = 16, pieces = 32 * step / 64 / lanes;
  const auto fill = [&](const char* to, const char* from, bool along_k, const char* first) {
    const int in_row = (along_k ? step : 32) / lanes, stride = (along_k ? step : 32) + lanes;
    const std::string row = fmt::format("floordiv(u*64 + t, {})", in_row);
    const std::string at = fmt::format("(u*64 + t - {}*{})*{} + l", row, in_row, lanes);
    const std::string outer = along_k ? row : at, k = along_k ? at : row;
    return fmt::format(
        "          {}[{}*{} + {}] = {}[{}]{}\n", to, row, stride, at, from,
        along_k ? fmt::format("({} + {})*n + ks*{} + {}", first, outer, step, k)
                : fmt::format("(ks*{} + {})*64 + {} + {}", step, k, first, outer),
        fmt::format(fmt::runtime(guard), fmt::arg("k", fmt::format("ks*{} + {}", step, k)),
                    fmt::arg("k0", along_k ? fmt::format("ks*{0} + {1} - l", step, k)
                                           : fmt::format("ks*{} + {}", step, k))));
  };
  const auto read = [&](const char* from, const char* outer, bool along_k) {
    return along_k ? fmt::format("{}[{}*{} + k]", from, outer, step + lanes)
                   : fmt::format("{}[{} + k*{}]", from, outer, 32 + lanes);
  };
  const char* row =
      "floordiv(e, 8)*16 + floordiv(e - floordiv(e, 4)*4, 2)*8 + floordiv(t - floordiv(t, 32)*32, "
      "4)";
  const char* col =
      "floordiv(t, 32)*16 + (floordiv(e, 4) - floordiv(e, 8)*2)*8 + (t - floordiv(t, 4)*4)*2 + e - "
      "floordiv(e, 2)*2";
  const std::string flags =
      fmt::format("{}{}", depth > 1 ? fmt::format(" depth {}", depth) : "", async ? " async" : "");
  return parse(fmt::format(
      R"(kernel product gpu dims n: 1..200
  buffer a: {0}[n*64] global argument 0
  buffer b: {0}[n*64] global argument 1
  buffer c: f32[4096] global argument 2 written
  buffer sa: {0}[{1}] shared{2}
  buffer sb: {0}[{1}] shared{2}
  buffer acc: f32[16] register
  thread w in 4
    together t in 64
      unroll e in 16
        acc[e] = f32(1)
    loop ks in floordiv(n + 15, 16)
      together t in 64
        unroll u in {3}
          vector l in {4}
            {5}            {6}
      barrier
      tile tensor_core t in 64, e in 16 at {7}, {8}
        i in 32, j in 32, k in 16: acc += {9} * {10}
      barrier
    together t in 64
      unroll e in 16
        c[(floordiv(w, 2)*32 + {7})*64 + (w - floordiv(w, 2)*2)*32 + {8}] = acc[e]
)",
      to_string(lay.dtype), 32 * (32 + lanes), flags, pieces, lanes,
      fill("sa", "a", lay.a_along_k, "floordiv(w, 2)*32").substr(10),
      fill("sb", "b", lay.b_along_k, "(w - floordiv(w, 2)*2)*32").substr(10), row, col,
      read("sa", "i", lay.a_along_k), read("sb", "j", lay.b_along_k)));
}

TEST(CudaTile, TensorCoresReadOperandsThatLieEitherWay) {
  for (const Lay& lay : {Lay{DType::BF16, true, false}, Lay{DType::BF16, false, true},
                         Lay{DType::F16, true, true}, Lay{DType::F32, true, false}}) {
    const kernel::Kernel kernel = staged(lay, 1, false, "");
    EXPECT_TRUE(has(kernel, fmt::format("multiply_{}(",
                                        lay.dtype == DType::F32 ? "tf32" : to_string(lay.dtype))));
    expect_same(kernel,
                {small_of(lay.dtype, 64 * 64), small_of(lay.dtype, 64 * 64), Bytes(4096 * 4)},
                {{16}, {64}});
  }
}

TEST(CudaTile, StepsAreFilledAhead) {
  const std::vector<std::vector<int64_t>> depths = {{8}, {16}, {40}, {96}, {200}};
  for (const int depth : {2, 3, 4}) {
    const kernel::Kernel kernel =
        staged({DType::BF16, true, false}, depth, true, " if 0 <= {k0} < n");
    EXPECT_TRUE(has(kernel, "copy_ahead<16>("));
    EXPECT_TRUE(has(kernel, fmt::format("wait_for_copies<{}>()", depth - 2)));
    expect_same(kernel,
                {small_of(DType::BF16, 200 * 64), small_of(DType::BF16, 200 * 64), Bytes(4096 * 4)},
                depths);
  }
}

// 13 and 99: rows are not aligned, and the last of them ends inside of a vector.
TEST(CudaTile, StepsThatEndInsideOfAVector) {
  const kernel::Kernel kernel = staged({DType::F16, true, true}, 3, true, " if 0 <= {k} < n");
  expect_same(kernel,
              {small_of(DType::F16, 200 * 64), small_of(DType::F16, 200 * 64), Bytes(4096 * 4)},
              {{1}, {13}, {48}, {99}});
}

TEST(CudaTile, ElementsThatLieOtherwiseAreRefused) {
  kernel::Kernel kernel = staged({DType::BF16, true, false}, 1, false, "");
  std::string text = kernel::print(kernel);
  const auto at = text.find("tile tensor_core");
  const auto row = text.find(" at ", at);
  text.insert(row + 4, "1 + ");
  EXPECT_THROW(codegen::cuda::source(parse(text), 90), Error);
}

}  // namespace
}  // namespace tenon::cuda_test
