// Finds every op of a model that is not known, and nodes with what their op does not have, before
// anything is imported: in the graph, in the graphs inside of nodes, and in the functions that are
// called.
#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "import/onnx/importers.h"
#include "import/onnx/model_importer.h"
#include "import/onnx/signature.h"

namespace tenon::onnx {
namespace {

class UnknownOps {
 public:
  explicit UnknownOps(const Functions& functions) : functions_(functions) {}

  void look(std::span<const NodeProto> nodes, const Opsets& opsets, const std::string& prefix) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      const NodeProto& node = nodes[i];
      const auto label = [&] {
        return prefix +
               (node.name.empty() ? fmt::format("{}#{}", node.op_type, i) : std::string(node.name));
      };
      for (const AttributeProto& attribute : node.attributes) {
        if (attribute.g) look(attribute.g->nodes, opsets, label() + "/");
      }
      if (const FunctionProto* function = functions_.find(node)) {
        const bool news = seen_.insert(function).second;
        if (news) look(function->nodes, read_opsets(function->opsets), label() + "/");
        continue;
      }
      const std::string name = problem(node, opsets);
      if (!name.empty()) {
        unknown_[name].push_back(label());
      } else if (!wrong_node_) {
        look_at_signature(node, opsets, label());
      }
    }
  }

  void report() const {
    if (unknown_.empty() && wrong_node_) throw Error(*wrong_node_);
    if (unknown_.empty()) return;
    std::string text;
    for (const auto& [op, labels] : unknown_) {
      text += fmt::format("\n  {} x{}: ", op, labels.size());
      for (size_t i = 0; i < std::min<size_t>(labels.size(), 8); ++i) {
        text += fmt::format("{}'{}'", i ? ", " : "", labels[i]);
      }
      if (labels.size() > 8) text += fmt::format(" and {} more", labels.size() - 8);
    }
    throw unsupported_error("{} op{} not supported:{}", unknown_.size(),
                            unknown_.size() == 1 ? " is" : "s are", text);
  }

 private:
  // Empty where the op is known at this opset, or the opset is missing: that is another error.
  static std::string problem(const NodeProto& node, const Opsets& opsets) {
    if (node.op_type.empty()) return "a node without op_type";
    const std::string_view domain = canonical_domain(node.domain);
    const Importer* importer = find_importer(domain, node.op_type);
    std::string name = qualified(domain, node.op_type);
    if (!importer) return name;
    const auto opset = opsets.find(domain);
    if (opset == opsets.end()) return {};
    const std::string missing = op_problem(*importer, opset->second);
    if (missing.empty()) return {};
    return name + fmt::format(" of opset {} ({})", opset->second, missing);
  }

  void look_at_signature(const NodeProto& node, const Opsets& opsets, const std::string& label) {
    const std::string_view domain = canonical_domain(node.domain);
    const auto opset = opsets.find(domain);
    if (opset == opsets.end()) return;
    try {
      check_signature(*find_importer(domain, node.op_type), node, opset->second);
    } catch (const Error& error) {
      wrong_node_.emplace(error.kind(), fmt::format("node '{}' ({}): {}", label,
                                                    qualified(domain, node.op_type), error.what()));
    }
  }

  const Functions& functions_;
  std::unordered_set<const FunctionProto*> seen_;
  std::map<std::string, std::vector<std::string>> unknown_;
  std::optional<Error> wrong_node_;  // the first
};

}  // namespace

void check_ops_known(const ModelProto& model, const Functions& functions, const Opsets& opsets) {
  UnknownOps unknown(functions);
  unknown.look(model.graph.nodes, opsets, "");
  unknown.report();
}

}  // namespace tenon::onnx
