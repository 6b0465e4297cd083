// Which program of a file a machine takes, for machines that are not this one.
#include "compiled/choose_variant.h"

#include <gtest/gtest.h>

namespace tenon::compiled {
namespace {

using program::DeviceKind;
using program::Variant;

constexpr Variant kAvx2{DeviceKind::Cpu, {CpuIsa::Avx2}, 0};
constexpr Variant kAvx512{DeviceKind::Cpu, {CpuIsa::Avx512}, 0};
constexpr Variant kBf16{DeviceKind::Cpu, {CpuIsa::Avx512, true}, 0};
constexpr Variant gpu(int arch) { return {DeviceKind::Cuda, {}, arch}; }

Machine with_cpu(CpuIsa isa, bool bf16 = false) {
  Machine machine;
  machine.cpu = {.isa = isa, .bf16 = bf16, .name = "Some CPU"};
  return machine;
}

Machine with_gpu(int arch) {
  Machine machine = with_cpu(CpuIsa::Avx2);
  machine.cuda_arch = arch;
  return machine;
}

TEST(ChooseVariant, TakesTheCodeThatUsesMostOfTheCpu) {
  const Variant all[] = {gpu(90), kAvx512, kBf16, kAvx2};
  EXPECT_EQ(choose_variant(all, DeviceKind::Cpu, with_cpu(CpuIsa::Avx2)).value(), 3U);
  EXPECT_EQ(choose_variant(all, DeviceKind::Cpu, with_cpu(CpuIsa::Avx512)).value(), 1U);
  EXPECT_EQ(choose_variant(all, DeviceKind::Cpu, with_cpu(CpuIsa::Avx512, true)).value(), 2U);
}

TEST(ChooseVariant, TakesTheNewestCubinsOfTheSameMajorVersion) {
  const Variant all[] = {kAvx2, gpu(80), gpu(89), gpu(86), gpu(90)};
  EXPECT_EQ(choose_variant(all, DeviceKind::Cuda, with_gpu(80)).value(), 1U);
  EXPECT_EQ(choose_variant(all, DeviceKind::Cuda, with_gpu(87)).value(), 3U);
  EXPECT_EQ(choose_variant(all, DeviceKind::Cuda, with_gpu(89)).value(), 2U);
  EXPECT_EQ(choose_variant(all, DeviceKind::Cuda, with_gpu(90)).value(), 4U);
}

TEST(ChooseVariant, SaysWhatThereIsAndWhatTheMachineHas) {
  const Variant all[] = {kBf16, gpu(80), gpu(90)};
  EXPECT_STREQ(choose_variant(all, DeviceKind::Cpu, with_cpu(CpuIsa::Avx512)).error().what(),
               "it was compiled for cpu avx512+bf16, cuda 8.0, cuda 9.0; this CPU (Some CPU) has "
               "avx512");
  EXPECT_STREQ(choose_variant(all, DeviceKind::Cuda, with_gpu(120)).error().what(),
               "it was compiled for cpu avx512+bf16, cuda 8.0, cuda 9.0; the GPU has compute "
               "capability 12.0");
  EXPECT_STREQ(choose_variant({&kAvx2, 1}, DeviceKind::Cuda, with_gpu(90)).error().what(),
               "it was compiled for cpu avx2, not for cuda");
}

TEST(ChooseVariant, PrefersTheCpuWhereNobodyAsked) {
  const Variant both[] = {gpu(90), kAvx2};
  EXPECT_EQ(default_device(both), DeviceKind::Cpu);
  EXPECT_EQ(default_device(std::span(both).first(1)), DeviceKind::Cuda);
}

}  // namespace
}  // namespace tenon::compiled
