// What a ParamStore holds: values that are never changed, but replaced as a whole.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "program/program.h"
#include "runtime/param_store.h"
#include "tenon/param_store.h"

namespace tenon {

namespace compiled {

struct StoredParam {
  DType dtype{};
  std::optional<std::vector<int64_t>> shape;  // absent: not said
  runtime::HostValue value;
};

}  // namespace compiled

struct ParamStore::Impl {
  // A copy of these bytes.
  void set(const std::string& name, DType dtype, std::optional<std::vector<int64_t>> shape,
           std::span<const std::byte> bytes);
  // An Error where a value is for no parameter of these, or is of another type.
  void check_fits(const std::vector<program::ParamSlot>& slots) const;

  mutable std::mutex mutex;
  std::map<std::string, compiled::StoredParam> values;
  std::atomic<uint64_t> version = 1;  // grows with every set
};

}  // namespace tenon
