// Where a graph runs: a CPU, a GPU through CUDA, or nowhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

class Device {
 public:
  enum class Kind : uint8_t { Cpu, Cuda, Null };

  Device() = default;                                                // the CPU
  static Device Cpu() { return {}; }                                 // NOLINT: a name of its own
  static Device Cuda(int index = 0) { return {Kind::Cuda, index}; }  // NOLINT
  // Compiles for this machine, without code, and runs nothing: inputs are checked and memory is
  // planned, outputs stay what they were (zeros at first).
  static Device Null() { return {Kind::Null, 0}; }  // NOLINT
  // cpu, cuda, cuda:1 or null; another one is an Error
  static Device parse(std::string_view text);

  Kind kind() const { return kind_; }
  int index() const { return index_; }  // among the devices of its kind
  bool operator==(const Device&) const = default;

 private:
  Device(Kind kind, int index) : kind_(kind), index_(index) {}

  Kind kind_ = Kind::Cpu;
  int index_ = 0;
};

std::string to_string(const Device& device);  // cpu, cuda:0, null

// Whether graphs can run there, on this machine.
bool is_available(const Device& device);
std::string why_unavailable(const Device& device);  // in words; empty where it is available
std::string describe(const Device& device);         // an available one, in words
// The CPU, every GPU that CUDA knows, and the first one even where it knows none.
std::vector<Device> known_devices();

}  // namespace tenon
