// See vector_builtins.h.
#include "codegen/c/vector_builtins.h"

#include <fmt/format.h>

namespace tenon::codegen::c {
namespace {

struct VectorBuiltin {
  const char* name;
  const char* clang;
  int size;            // of an element
  const char* gcc_16;  // in bytes of the vector
  const char* gcc_32;
  const char* gcc_64;
};
#define ROUND_ROW(name, clang, mode)                              \
  {name "_f32v(a)",                                               \
   "__builtin_elementwise_" clang "(a)",                          \
   4,                                                             \
   "__builtin_ia32_roundps(a, " mode ")",                         \
   "__builtin_ia32_roundps256(a, " mode ")",                      \
   "__builtin_ia32_rndscaleps_mask(a, " mode ", a, (u16)-1, 4)"}, \
      {name "_f64v(a)",                                           \
       "__builtin_elementwise_" clang "(a)",                      \
       8,                                                         \
       "__builtin_ia32_roundpd(a, " mode ")",                     \
       "__builtin_ia32_roundpd256(a, " mode ")",                  \
       "__builtin_ia32_rndscalepd_mask(a, " mode ", a, (u8)-1, 4)"}
constexpr VectorBuiltin kBuiltins[] = {
    {"fma_f32v(a, b, c)", "__builtin_elementwise_fma(a, b, c)", 4,
     "__builtin_ia32_vfmaddps(a, b, c)", "__builtin_ia32_vfmaddps256(a, b, c)",
     "__builtin_ia32_vfmaddps512_mask(a, b, c, (u16)-1, 4)"},
    {"fma_f64v(a, b, c)", "__builtin_elementwise_fma(a, b, c)", 8,
     "__builtin_ia32_vfmaddpd(a, b, c)", "__builtin_ia32_vfmaddpd256(a, b, c)",
     "__builtin_ia32_vfmaddpd512_mask(a, b, c, (u8)-1, 4)"},
    {"sqrt_f32v(a)", "__builtin_elementwise_sqrt(a)", 4, "__builtin_ia32_sqrtps(a)",
     "__builtin_ia32_sqrtps256(a)", "__builtin_ia32_sqrtps512_mask(a, a, (u16)-1, 4)"},
    {"sqrt_f64v(a)", "__builtin_elementwise_sqrt(a)", 8, "__builtin_ia32_sqrtpd(a)",
     "__builtin_ia32_sqrtpd256(a)", "__builtin_ia32_sqrtpd512_mask(a, a, (u8)-1, 4)"},
    ROUND_ROW("round", "roundeven", "8"),
    ROUND_ROW("floor", "floor", "9"),
};
#undef ROUND_ROW

}  // namespace

std::string vector_builtins(int64_t lanes) {
  std::string gcc, clang;
  for (const VectorBuiltin& row : kBuiltins) {
    clang += fmt::format("#define {} {}\n", row.name, row.clang);
    const int64_t bytes = lanes * row.size;
    if (bytes > 64) continue;  // a vector type that this kernel does not use
    gcc += fmt::format("#define {} {}\n", row.name,
                       bytes == 64   ? row.gcc_64
                       : bytes == 32 ? row.gcc_32
                                     : row.gcc_16);
  }
  const char* plain_half =
      "#define f32_of_f16v(a) CONVERT((halfv)(a), f32v)\n"
      "#define f16_of_f32v(a) ((u16v)CONVERT(a, halfv))\n";
  clang += plain_half;
  gcc += lanes == 16  ? "#define f32_of_f16v(a) __builtin_ia32_vcvtph2ps512_mask((i16v)(a), "
                        "(f32v){}, (u16)-1, 4)\n"
                        "#define f16_of_f32v(a) ((u16v)__builtin_ia32_vcvtps2ph512_mask(a, 0, "
                        "(i16v){}, (u16)-1))\n"
         : lanes == 8 ? "#define f32_of_f16v(a) __builtin_ia32_vcvtph2ps256((i16v)(a))\n"
                        "#define f16_of_f32v(a) ((u16v)__builtin_ia32_vcvtps2ph256(a, 0))\n"
                      : plain_half;
  return "#ifdef __clang__\n" + clang + "#else\n" + gcc + "#endif\n";
}

}  // namespace tenon::codegen::c
