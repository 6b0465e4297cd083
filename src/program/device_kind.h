// What a program was compiled for.
#pragma once

#include <cstdint>
#include <string_view>

namespace tenon::program {

enum class DeviceKind : uint8_t {
  Cpu,
  Cuda,
  EmulatedGpu,  // kernels scheduled for GPUs, as text, for the interpreter of the loop IR
  Null,         // no code: steps are planned and not run
};

constexpr std::string_view name_of(DeviceKind kind) {
  constexpr std::string_view kNames[] = {"cpu", "cuda", "emulated-gpu", "null"};
  return kNames[static_cast<int>(kind)];
}

}  // namespace tenon::program
