// See signature.h.
#include "import/onnx/signature.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include "base/error.h"

namespace tenon::onnx {
namespace {

struct OpsetRange {
  int64_t first = 1, last = std::numeric_limits<int64_t>::max();

  bool contain(int64_t opset) const { return first <= opset && opset <= last; }
  std::string to_string() const {
    if (last == std::numeric_limits<int64_t>::max()) return fmt::format("since opset {}", first);
    return first > 1 ? fmt::format("from opset {} to {}", first, last)
                     : fmt::format("until opset {}", last);
  }
};

// "13.." or "..12" or "11..12".
OpsetRange read_range(std::string_view text) {
  OpsetRange opsets;
  const size_t dots = text.find("..");
  std::from_chars(text.data(), text.data() + dots, opsets.first);
  std::from_chars(text.data() + dots + 2, text.data() + text.size(), opsets.last);
  return opsets;
}

// The opsets of the word that begins with `name`; nullopt where there is none.
std::optional<OpsetRange> find_word(std::string_view signature, std::string_view name) {
  while (!signature.empty()) {
    const std::string_view word = signature.substr(0, signature.find(' '));
    signature.remove_prefix(std::min(signature.size(), word.size() + 1));
    const size_t at = word.find('@');
    if (word.substr(0, at) != name) continue;
    return at == std::string_view::npos ? OpsetRange{} : read_range(word.substr(at + 1));
  }
  return {};
}

class Problems {
 public:
  Problems(const Importer& importer, int64_t opset) : importer_(importer), opset_(opset) {}

  void look_at(const AttributeProto& attribute) {
    const auto opsets = find_word(importer_.signature, attribute.name);
    const std::string what = fmt::format("attribute '{}'", attribute.name);
    if (!opsets) {
      list_.push_back(what + " is not known for this op");
    } else {
      expect(*opsets, what);
    }
    if (attribute.kind != AttributeKind::String || attribute.s.size() > 64) return;
    if (const auto of_value =
            find_word(importer_.signature, fmt::format("{}={}", attribute.name, attribute.s))) {
      expect(*of_value, fmt::format("{} of '{}'", what, attribute.s));
    }
  }

  void look_at_input(size_t i) {
    if (const auto opsets = find_word(importer_.signature, fmt::format("#{}", i))) {
      expect(*opsets, fmt::format("input {}", i));
    }
  }

  void report() const {
    if (!list_.empty()) throw unsupported_error("{}", fmt::join(list_, "; "));
  }

 private:
  void expect(const OpsetRange& opsets, const std::string& what) {
    if (opsets.contain(opset_)) return;
    list_.push_back(
        fmt::format("{} is not known at opset {}, only {}", what, opset_, opsets.to_string()));
  }

  const Importer& importer_;
  int64_t opset_;
  std::vector<std::string> list_;
};

}  // namespace

std::string op_problem(const Importer& importer, int64_t opset) {
  OpsetRange opsets = find_word(importer.signature, "").value_or(OpsetRange{});
  opsets.first = importer.since;
  return opsets.contain(opset) ? "" : "known " + opsets.to_string();
}

void check_signature(const Importer& importer, const NodeProto& node, int64_t opset) {
  Problems problems(importer, opset);
  for (const AttributeProto& attribute : node.attributes) problems.look_at(attribute);
  const bool inputs_differ = importer.signature.find('#') != std::string_view::npos;
  for (size_t i = 0; inputs_differ && i < node.inputs.size(); ++i) {
    if (!node.inputs[i].empty()) problems.look_at_input(i);
  }
  problems.report();
}

}  // namespace tenon::onnx
