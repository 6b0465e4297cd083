// Knobs: the environment variables of Tenon as typed values, read once and checked. The table is
// knobs.def; help text and docs are made from it, so no variable exists that is not documented.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "base/result.h"

namespace tenon {

enum class KnobKind : uint8_t { Choice, Count, Bytes, Path };

struct KnobInfo {
  std::string_view variable;
  KnobKind kind;
  std::string_view default_value;
  std::string_view allowed;
  bool changes_code;
  std::string_view doc;
};

struct Knobs {
  using Choice = std::string;
  using Count = int;  // 0: not set
  using Bytes = uint64_t;
  using Path = std::string;

#define KNOB(field, variable, Kind, ...) Kind field{};
#include "base/knobs.def"
#undef KNOB

  // Reads every variable through `get`, which returns null for one that is not set. An error names
  // the variable and what is allowed.
  static Result<Knobs> read(FunctionRef<const char*(const char* variable)> get);
  static Knobs from_environment();  // throws User
};

// The environment as it was at the first call. Throws User on a bad value.
const Knobs& knobs();

std::span<const KnobInfo> knob_table();
std::string knob_help();  // one paragraph per variable, for --help and the docs

}  // namespace tenon
