// ModelComponent: one way in which a model is used, and how it is compiled for that.
//
//   tenon::ModelComponent prefill{
//       .variant = {.batch = 1, .seq = 128, .past = 0, .phase = tenon::ModelPhase::Prefill}};
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tenon/dim_binding.h"
#include "tenon/dispatch.h"

namespace tenon {

enum class ModelPhase : uint8_t {
  Prefill,  // a prompt
  Decode,   // what comes after it
  Encoder,  // everything at once: there is no past
};
std::string_view to_string(ModelPhase phase);

struct ModelVariant {
  int64_t batch = 1;
  int64_t seq = 1;
  std::optional<int64_t> past = {};  // where the model has such a dim
  ModelPhase phase = ModelPhase::Encoder;
  bool operator==(const ModelVariant&) const = default;
};

// When it is compiled.
enum class CompileMode : uint8_t {
  Jit,   // at once
  Lazy,  // at its first use
  Aot,   // earlier: read from disk, in the folder of TENON_CACHE_DIR; else at once, and kept there
};

struct ModelComponent {
  ModelVariant variant = {};
  std::optional<DispatchPolicy> dispatch = {};  // absent: as the options say, or the environment
  CompileMode mode = CompileMode::Jit;

  // Values for batch, seq and, where it is given, past. An encoder with a past is an Error.
  DimBinding dim_binding() const;
  // The same for equal components in every process, on every machine. The mode does not count: it
  // says when, not what.
  uint64_t cache_key() const;
  bool operator==(const ModelComponent&) const = default;
};

}  // namespace tenon
