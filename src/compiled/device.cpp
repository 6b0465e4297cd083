// Device: names, and what the runtime knows about devices of this machine.
#include "tenon/device.h"

#include <charconv>

#include "base/error.h"
#include "compiled/device_id.h"

namespace tenon {
namespace {

constexpr std::string_view kCuda = "cuda";

}  // namespace

Device Device::parse(std::string_view text) {
  if (text == "cpu") return Cpu();
  if (text == "null") return Null();
  if (text == kCuda) return Cuda();
  if (text.starts_with(kCuda) && text.substr(kCuda.size()).starts_with(":")) {
    const std::string_view number = text.substr(kCuda.size() + 1);
    int index = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
    if (error == std::errc() && end == number.data() + number.size() && index >= 0)
      return Cuda(index);
  }
  throw user_error("device '{}' is not known; there are: cpu, cuda, cuda:1 and so on, null", text);
}

std::string to_string(const Device& device) {
  const std::string_view kind = program::name_of(device_id(device).kind);
  return device.kind() == Device::Kind::Cuda ? fmt::format("{}:{}", kind, device.index())
                                             : std::string(kind);
}

bool is_available(const Device& device) { return why_unavailable(device).empty(); }

std::string why_unavailable(const Device& device) {
  return runtime::why_unavailable(device_id(device));
}

std::string describe(const Device& device) { return runtime::describe(device_id(device)); }

std::vector<Device> known_devices() {
  std::vector<Device> devices;
  for (const runtime::DeviceId& id : runtime::known_devices()) {
    const bool cpu = id.kind == program::DeviceKind::Cpu;
    devices.push_back(cpu ? Device::Cpu() : Device::Cuda(id.index));
  }
  return devices;
}

}  // namespace tenon
