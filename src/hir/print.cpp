// Modules as text: a line per block, values by number. Options that have the default (none, no, 0)
// are left out.
//
//   %4 = swiglu(x=%0, gate=%1, up=%2, down=%3, activation=silu): f32[batch, seq, 64]
#include <fmt/ranges.h>

#include "graph/activation.h"
#include "graph/attribute_text.h"
#include "hir/module.h"

namespace tenon::hir {
namespace {

// Collects "name=text" of the fields that say something; `operand` gives the text of a value.
template <typename OperandText>
struct Fields {
  OperandText operand;
  std::string_view equals;
  std::vector<std::string>& items;

  void add(std::string_view name, const std::string& text) const {
    items.push_back(name.empty() ? text : fmt::format("{}{}{}", name, equals, text));
  }
  void operator()(std::string_view name, const HirValue& value) const {
    add(name, value ? operand(value) : "none");
  }
  void operator()(std::string_view name, const Optional& optional) const {
    if (optional.value || name.empty()) (*this)(name, optional.value);
  }
  void operator()(std::string_view name, const std::string& text) const {
    add(name, fmt::format("\"{}\"", text));
  }
  void operator()(std::string_view name, const TensorType& type) const {
    add(name, type.to_string());
  }
  void operator()(std::string_view name, int64_t value) const {
    if (value != 0) add(name, fmt::to_string(value));
  }
  void operator()(std::string_view name, double value) const {
    if (value != 0) add(name, fmt::to_string(value));
  }
  void operator()(std::string_view name, const graph::AttributeValue& value) const {
    add(name, graph::print(value));
  }
  void operator()(std::string_view name, bool value) const {
    if (value) add(name, "true");
  }
  void operator()(std::string_view name, ActivationKind kind) const {
    if (kind != ActivationKind::None) add(name, std::string(graph::to_string(activation_of(kind))));
  }
};

std::string call_text(const Block& block, std::string_view equals, const auto& operand) {
  std::vector<std::string> items;
  std::visit([&](const auto& each) { each.fields(Fields{operand, equals, items}); }, block);
  return fmt::format("{}({})", name_of(block), fmt::join(items, ", "));
}

std::string number(const HirValue& value) { return fmt::format("%{}", Module::index(value)); }

}  // namespace

std::string describe(const Block& block) {
  return call_text(block, ": ", [](const HirValue& value) { return value.type().to_string(); });
}

std::string print(const Module& module) {
  std::string text;
  for (const Entry& entry : module.entries()) {
    std::vector<std::string> names, types;
    for (const HirValue& result : entry.results) {
      names.push_back(number(result));
      types.push_back(result.type().to_string());
    }
    text +=
        fmt::format("{} = {}: {}{}\n", fmt::join(names, ", "), call_text(entry.block, "=", number),
                    fmt::join(types, ", "), entry.origin.empty() ? "" : "  // " + entry.origin);
  }
  for (const NamedValue& output : module.outputs()) {
    text += fmt::format("output \"{}\" = {}\n", output.name, number(output.value));
  }
  return text;
}

}  // namespace tenon::hir
