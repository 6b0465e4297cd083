// Dispatch: which ops run as kernels of the backend, and which become primitives first.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tenon {

enum class DispatchPolicy : uint8_t {
  PreferNative,  // what the backend claims stays; the rest becomes primitives
  ForceCommon,   // whatever can become primitives does
  ForceNative,   // what the backend does not claim is an Error
};

struct DispatchOptions {
  DispatchPolicy policy = DispatchPolicy::PreferNative;
  // For single kinds of ops, by name ("attention"); they win over the policy. A kind that is not
  // known, and ForceCommon for one that is a primitive, are Errors.
  std::map<std::string, DispatchPolicy> overrides = {};
  bool operator==(const DispatchOptions&) const = default;
};

// What became of the nodes of each op.
struct DispatchReport {
  struct Row {
    int native = 0;     // as a kernel, or inside of one
    int common = 0;     // became primitives
    int rewritten = 0;  // became other ops before fusion, on every backend
    bool operator==(const Row&) const = default;
  };
  std::map<std::string, Row> rows;  // by the op's name

  std::string to_string() const;
  std::string to_json() const;
};

}  // namespace tenon
