// Compiled graphs as files: how CompiledGraph::save writes them and CompiledGraph::load opens them.
#pragma once

#include <cstdint>
#include <optional>

#include "tenon/device.h"

namespace tenon {

enum class WeightsPlace : uint8_t {
  Inside,  // everything is in one file
  Beside,  // in a second one, next to the first: FILE.weights. Both keep their names
};

struct SaveOptions {
  WeightsPlace weights = WeightsPlace::Inside;
};

// When weights are compared with their digests, which reads them. Code always is, when it is
// loaded.
enum class WeightCheck : uint8_t {
  WhenRead,  // by the first run that needs them, each once: what is damaged is that run's Error
  AtLoad,    // all of them, before load returns
  Never,
};

struct LoadOptions {
  // nullopt: the CPU where the file has code for CPUs, else the first GPU.
  std::optional<Device> device = {};
  int threads = 0;  // 0: as many as this process may use
  WeightCheck check_weights = WeightCheck::WhenRead;
};

}  // namespace tenon
