// Runs one kernel on memory of its own: lowered, or scheduled with the packs it needs, by the
// interpreter or by whatever else the caller has.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <random>

#include "kernel/kernel.h"
#include "schedule/schedule.h"
#include "tests/schedule/contraction_cases.h"

namespace tenon::kernel_test {

// The arguments by number; every byte of them is compared, written or not.
using Memory = std::map<int, std::vector<std::byte>>;
using Fault = std::array<int64_t, 3>;

inline int64_t evaluate(const Dim& dim, const Extents& extents) {
  return dim
      .evaluate(
          [&](const Symbol& symbol) -> std::optional<int64_t> { return extents.at(symbol.name()); })
      .value();
}

inline size_t byte_count(const kernel::Buffer& buffer, const Extents& extents) {
  return static_cast<size_t>(evaluate(buffer.elements, extents) * size_of(buffer.dtype));
}

inline Memory random_memory(const kernel::Kernel& lowered, const Extents& extents,
                            std::pair<int64_t, int64_t> indices) {
  Memory memory;
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> real(-1, 1);
  std::uniform_int_distribution<int64_t> integer(indices.first, indices.second);
  for (const kernel::Buffer& buffer : lowered.buffers) {
    if (buffer.storage != kernel::Storage::Global) continue;
    auto& bytes = memory[buffer.source_index];
    bytes.assign(byte_count(buffer, extents), std::byte{0xcd});
    const auto size = static_cast<size_t>(size_of(buffer.dtype));
    for (size_t at = 0; !buffer.written && at < bytes.size(); at += size) {
      if (is_float(buffer.dtype)) {
        store_from_f64(buffer.dtype, &bytes[at], real(generator));
      } else {
        store_from_i64(buffer.dtype, &bytes[at], integer(generator));
      }
    }
  }
  return memory;
}

// One pointer per buffer (null for locals), the values of dims, where to report a fault.
using Runner = std::function<void(const kernel::Kernel&, const std::vector<void*>&, const Extents&,
                                  int64_t* fault)>;

inline std::vector<int64_t> dim_values(const kernel::Kernel& kernel, const Extents& extents) {
  std::vector<int64_t> values;
  for (const Symbol& symbol : kernel.dims) values.push_back(extents.at(symbol.name()));
  return values;
}

inline void interpret(const kernel::Kernel& kernel, const std::vector<void*>& buffers,
                      const Extents& extents, int64_t* fault) {
  kernel::interpret(kernel, buffers, dim_values(kernel, extents), fault);
}

inline Fault run_lowered(const kernel::Kernel& kernel, const Extents& extents, Memory& memory) {
  Fault fault{};
  std::vector<void*> buffers;
  for (const kernel::Buffer& buffer : kernel.buffers) {
    const bool global = buffer.storage == kernel::Storage::Global;
    buffers.push_back(global ? memory.at(buffer.source_index).data() : nullptr);
  }
  interpret(kernel, buffers, extents, fault.data());
  return fault;
}

inline Fault run_scheduled(const schedule::Scheduled& scheduled, const Extents& extents,
                           Memory& memory, const Runner& run) {
  Fault fault{};
  Memory packed;
  const auto pointers = [&](const kernel::Kernel& kernel) {
    std::vector<void*> buffers;
    for (const kernel::Buffer& buffer : kernel.buffers) {
      if (buffer.storage != kernel::Storage::Global) {
        buffers.push_back(nullptr);
        continue;
      }
      const bool pack = buffer.source == kernel::Source::Packed;
      auto& bytes = (pack ? packed : memory)[buffer.source_index];
      if (pack) bytes.resize(byte_count(buffer, extents), std::byte{0xff});
      buffers.push_back(bytes.data());
    }
    return buffers;
  };
  for (const kernel::Kernel& pack : scheduled.packs) {
    run(pack, pointers(pack), extents, fault.data());
  }
  run(scheduled.kernel, pointers(scheduled.kernel), extents, fault.data());
  return fault;
}

// The lowered kernel with functions written as the schedule writes them: so that bits can agree.
inline kernel::Kernel expanded(const kernel::Kernel& lowered) {
  kernel::Kernel result = lowered;
  result.body = kernel::transform_exprs(lowered.body, kernel::expand_math);
  return result;
}

struct NamedTarget {
  const char* name;
  schedule::Target target;
};
inline std::vector<NamedTarget> targets() {
  return {{"Avx2", schedule::avx2_target(32 << 10, 1 << 20)},
          {"Avx512", schedule::avx512_target(32 << 10, 1 << 20)}};
}

// And those that do without what makes them fast.
inline std::vector<NamedTarget> all_targets() {
  std::vector<NamedTarget> result = targets();
  result.push_back({"Plain", result.front().target});
  result.back().target.plain = true;
  return result;
}

inline std::string text_of(const Extents& extents) {
  std::string text;
  for (const auto& [name, value] : extents) text += fmt::format("{}={} ", name, value);
  return text;
}

// Which argument differs, and where; empty when none does.
inline std::string difference(const Memory& expected, const Memory& actual) {
  for (const auto& [index, bytes] : expected) {
    const auto& other = actual.at(index);
    if (bytes == other) continue;
    size_t at = 0;
    while (bytes[at] == other[at]) ++at;
    float a = 0, b = 0;
    if (at / 4 * 4 + 4 <= bytes.size()) {
      std::memcpy(&a, &bytes[at / 4 * 4], 4);
      std::memcpy(&b, &other[at / 4 * 4], 4);
    }
    return fmt::format("argument {} differs first at byte {} of {} (as f32: {} and {})", index, at,
                       bytes.size(), a, b);
  }
  return {};
}

}  // namespace tenon::kernel_test
