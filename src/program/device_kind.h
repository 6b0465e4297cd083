// What a program was compiled for.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace tenon::program {

enum class DeviceKind : uint8_t {
#define DEVICE(kind, name, backend, family) kind,
#include "program/devices.def"
#undef DEVICE
};

constexpr std::string_view kDeviceNames[] = {
#define DEVICE(kind, name, backend, family) name,
#include "program/devices.def"
#undef DEVICE
};
constexpr int kDeviceKinds = static_cast<int>(std::size(kDeviceNames));

constexpr std::string_view name_of(DeviceKind kind) { return kDeviceNames[static_cast<int>(kind)]; }

}  // namespace tenon::program
