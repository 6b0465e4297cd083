// A graph as text, one line per node:
//   %2 = matmul(%x, %w) : f32[batch, 1536] @"layer.0"
// A graph inside of a node stands among its attributes, in braces and indented.
// Everything that counts for its identity is there; the data of parameters is not.
#include <fmt/format.h>

#include <algorithm>

#include "graph/attribute_text.h"
#include "graph/constraint_kind.h"
#include "graph/graph.h"
#include "graph/literal.h"
#include "graph/marked_text.h"
#include "graph/print_with_notes.h"

namespace tenon::graph {

namespace {

std::string joined(std::span<const Dim> dims) {
  std::string text;
  for (const Dim& dim : dims) text += (text.empty() ? "" : ", ") + dim.to_string();
  return text;
}

std::string indented(const Graph& graph, int depth);

struct AttributeText {
  int depth;  // of the graph that has the node
  std::string operator()(int64_t value) const { return fmt::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return quoted(value); }
  std::string operator()(DType value) const { return std::string(to_string(value)); }
  std::string operator()(const std::vector<int64_t>& values) const {
    return fmt::format("[{}]", fmt::join(values, ", "));
  }
  std::string operator()(const std::vector<double>& values) const {
    return fmt::format("[{}]", fmt::join(values, ", "));
  }
  std::string operator()(const std::vector<Dim>& values) const {
    return '[' + joined(values) + ']';
  }
  std::string operator()(const Subgraph& graph) const { return indented(*graph, depth + 1); }
  std::string operator()(const CustomFunction& function) const { return quoted(function.name()); }
};

}  // namespace

std::string print(const AttributeValue& value) { return std::visit(AttributeText{0}, value); }

namespace {

class Printer {
 public:
  explicit Printer(const Graph& graph, int depth = 0, const NodeNote& note = {},
                   const BucketAxes& marked = {})
      : graph_(graph), depth_(depth), note_(note), marked_(marked) {}

  std::string print() {
    text_ = "graph\n";
    statements();
    return std::move(text_);
  }

  // As the value of an attribute.
  std::string print_body() {
    text_ = "graph {\n";
    statements();
    text_ += std::string(static_cast<size_t>(depth_ - 1) * 2, ' ') + '}';
    return std::move(text_);
  }

 private:
  void statements() {
    header();
    for (const Node* node : graph_.topological()) {
      if (node->op() != Op::Input && node->op() != Op::Param) line(*node);
    }
    for (const Output& output : graph_.outputs()) {
      begin() += fmt::format("output {} = {}\n", quoted(output.name), name(output.value));
    }
  }

  std::string& begin() { return text_.append(static_cast<size_t>(depth_) * 2, ' '); }

  void header() {
    for (const auto& [name, symbol] : graph_.symbols()) {
      begin() += fmt::format("symbol {} {}..{}\n", name_or_quoted(name), symbol.bounds().lo,
                             symbol.bounds().hi);
    }
    std::vector<std::string> facts;
    for (const Constraint& c : graph_.constraints()) {
      facts.push_back(fmt::format("require {}({}, {}) {}\n", info(c.kind).text, c.left.to_string(),
                                  c.right.to_string(), quoted(c.why)));
    }
    std::ranges::sort(facts);
    for (const std::string& fact : facts) begin() += fact;
    for (const Value& input : graph_.inputs()) leaf("input", input);
    for (const Value& param : graph_.params()) leaf("param", param);
  }

  void leaf(std::string_view kind, const Value& value) {
    begin() += fmt::format("{} {}", kind, name(value));
    attributes(value.node->attributes());
    text_ += " : " + value.type().to_string();
    const auto mark = marked_.find(value.node->name());
    if (mark != marked_.end()) text_ += fmt::format(" bucket_axis {}", mark->second);
    finish(*value.node);
  }

  void finish(const Node& node) {
    const std::string_view origin = graph_.origin(&node);
    if (!origin.empty()) text_ += " @" + quoted(origin);
    if (note_) text_ += fmt::format("  // {}", note_(node));
    text_ += '\n';
  }

  void line(const Node& node) {
    first_result_[&node] = next_;
    begin();
    for (int i = 0; i < node.result_count(); ++i) {
      text_ += fmt::format("{}%{}", i == 0 ? "" : ", ", next_++);
    }
    text_ += fmt::format(" = {}(", info(node.op()).text);
    if (node.op() == Op::Constant) text_ += print_elements(node.types()[0].dtype, node.bytes());
    for (int i = 0; i < node.operand_count(); ++i) {
      text_ += (i == 0 ? "" : ", ") + name(node.operand(i));
    }
    text_ += ')';
    attributes(node.attributes());
    for (int i = 0; i < node.result_count(); ++i) {
      text_ += (i == 0 ? " : " : ", ") + node.types()[static_cast<size_t>(i)].to_string();
    }
    finish(node);
  }

  void attributes(const Attributes& attributes) {
    if (attributes.items().empty()) return;
    std::string list;
    for (const auto& [name, value] : attributes.items()) {
      list += (list.empty() ? "" : ", ") + name + " = " + std::visit(AttributeText{depth_}, value);
    }
    text_ += " {" + list + '}';
  }

  std::string name(const Value& value) const {
    if (value.op() == Op::Input || value.op() == Op::Param) {
      return '%' + name_or_quoted(value.node->name());
    }
    return fmt::format("%{}", first_result_.at(value.node) + value.result);
  }

  const Graph& graph_;
  int depth_;
  NodeNote note_;
  BucketAxes marked_;  // of inputs, whose names no parameter has
  std::string text_;
  std::unordered_map<const Node*, int64_t> first_result_;
  int64_t next_ = 0;
};

std::string indented(const Graph& graph, int depth) { return Printer(graph, depth).print_body(); }

}  // namespace

std::string print(const Graph& graph) { return Printer(graph).print(); }

std::string print(const Graph& graph, const BucketAxes& marked) {
  return Printer(graph, 0, {}, marked).print();
}

std::string print_with_notes(const Graph& graph, const NodeNote& note) {
  return Printer(graph, 0, note).print();
}

}  // namespace tenon::graph
