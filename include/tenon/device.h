// Where a graph runs: a CPU, or a GPU through CUDA.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

class Device {
 public:
  enum class Kind : uint8_t { Cpu, Cuda };

  Device() = default;                                                // the CPU
  static Device Cpu() { return {}; }                                 // NOLINT: a name of its own
  static Device Cuda(int index = 0) { return {Kind::Cuda, index}; }  // NOLINT
  static Device parse(std::string_view text);  // cpu, cuda or cuda:1; another one is an Error

  Kind kind() const { return kind_; }
  int index() const { return index_; }  // among the devices of its kind
  bool operator==(const Device&) const = default;

 private:
  Device(Kind kind, int index) : kind_(kind), index_(index) {}

  Kind kind_ = Kind::Cpu;
  int index_ = 0;
};

std::string to_string(const Device& device);  // cpu, cuda:0

// Whether graphs can run there, on this machine.
bool is_available(const Device& device);
std::string why_unavailable(const Device& device);  // in words; empty where it is available
std::string describe(const Device& device);         // an available one, in words
// The CPU, every GPU that CUDA knows, and the first one even where it knows none.
std::vector<Device> known_devices();

}  // namespace tenon
