// Activations as a table: the kind, its text in attributes, and the elementwise op that computes
// it.
#pragma once

#include <optional>
#include <string_view>

#include "graph/graph.h"

namespace tenon::graph {

struct ActivationInfo {
  Activation kind;
  std::optional<Op> op;  // none for Activation::None
};

inline constexpr ActivationInfo kActivations[] = {
    {Activation::None, std::nullopt},   {Activation::Relu, Op::Relu},
    {Activation::Gelu, Op::Gelu},       {Activation::GeluTanh, Op::GeluTanh},
    {Activation::Silu, Op::Silu},       {Activation::Tanh, Op::Tanh},
    {Activation::Sigmoid, Op::Sigmoid},
};

constexpr std::optional<Op> op_of(Activation kind) {
  return kActivations[static_cast<int>(kind)].op;
}

// The op's text, or "none".
constexpr std::string_view to_string(Activation kind) {
  return op_of(kind) ? info(*op_of(kind)).text : "none";
}

constexpr std::optional<Activation> parse_activation(std::string_view text) {
  for (const ActivationInfo& row : kActivations) {
    if (to_string(row.kind) == text) return row.kind;
  }
  return std::nullopt;
}

}  // namespace tenon::graph
