// Reads the text form of a graph. Everything is built through the Graph builder, so a text can say
// nothing that a program could not; the declared types must equal the inferred ones.
#include <algorithm>
#include <charconv>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "graph/attribute_schema.h"
#include "graph/constraint_kind.h"
#include "graph/graph.h"
#include "graph/literal.h"
#include "graph/marked_text.h"
#include "graph/state.h"
#include "graph/text_cursor.h"

namespace tenon::graph {

namespace {

constexpr int kDepthLimit = 64;  // of graphs inside of graphs

class Parser {
 public:
  explicit Parser(TextCursor& cursor, int depth = 0, Graph graph = {})
      : cursor_(cursor), depth_(depth), graph_(std::move(graph)) {}

  Graph parse() {
    if (!cursor_.take("graph")) cursor_.fail("expected 'graph'");
    if (depth_ > 0) cursor_.expect('{');
    while (depth_ > 0 ? !cursor_.take('}') : !cursor_.at_end()) statement();
    at_statement([&] { graph_.set_outputs(std::move(outputs_)); });
    return std::move(graph_);
  }

  BucketAxes take_marks() { return std::move(marked_); }

 private:
  // Errors of the builder have no position: they get that of the statement.
  template <typename Build>
  std::invoke_result_t<Build> at_statement(Build&& build) {
    try {
      return build();
    } catch (const Error& error) {
      cursor_.fail_at(statement_, error.what());
    }
  }

  void statement() {
    cursor_.peek();
    statement_ = cursor_.position();
    if (cursor_.peek() == '%') return node();
    if (cursor_.take("symbol")) return symbol();
    if (cursor_.take("require")) return constraint();
    if (cursor_.take("input")) return leaf(Op::Input);
    if (cursor_.take("param")) return leaf(Op::Param);
    if (cursor_.take("output")) return output();
    cursor_.fail("expected symbol, require, input, param, output or %");
  }

  void symbol() {
    const std::string name = cursor_.name();
    Bounds bounds;
    bounds.lo = cursor_.integer();
    cursor_.expect('.');
    cursor_.expect('.');
    bounds.hi = cursor_.integer();
    at_statement([&] {
      if (!symbols_.emplace(name, Symbol(name, bounds)).second) {
        throw user_error("symbol {} is declared twice", name);
      }
      graph_.declare(symbols_.at(name));
    });
  }

  void constraint() {
    const std::string_view word = cursor_.word();
    Constraint result{};
    bool known = false;
    for (const ConstraintKindInfo& row : kConstraintKinds) {
      if (row.text != word) continue;
      result.kind = row.kind;
      known = true;
    }
    if (!known) cursor_.fail_at(statement_, "expected equal, at_most or broadcastable");
    cursor_.expect('(');
    result.left = dim();
    cursor_.expect(',');
    result.right = dim();
    cursor_.expect(')');
    result.why = cursor_.quoted();
    at_statement([&] { graph_.add_constraint(std::move(result)); });
  }

  void leaf(Op op) {
    cursor_.expect('%');
    const std::string name = cursor_.name();
    const Attributes given = attributes(op);
    cursor_.expect(':');
    const TensorType declared = type();
    const Value value = at_statement([&] {
      if (!given.items().empty()) return state(name, declared, given);
      return op == Op::Input ? graph_.input(name, declared) : graph_.param(name, declared);
    });
    define(name_or_quoted(name), value);
    if (cursor_.take("bucket_axis")) mark(value);
    origin(value.node);
  }

  void mark(const Value& leaf) {
    const auto most = int64_t{std::numeric_limits<int>::max()};
    const auto axis = static_cast<int>(std::clamp<int64_t>(cursor_.integer(), -1, most));
    at_statement([&] {
      if (leaf.op() != Op::Input || state_layout(leaf) || depth_ > 0)
        throw user_error("[{}] \"{}\" has no bucket axis: only inputs of the whole graph have",
                         info(leaf.op()).text, leaf.node->name());
      check_bucket_axis(leaf, axis);
    });
    marked_[leaf.node->name()] = axis;
  }

  Value state(const std::string& name, const TensorType& type, const Attributes& given) {
    if (given.items().size() != 2) throw user_error("[state] needs axis and capacity");
    return graph_.state(name, type,
                        {.axis = given.integer("axis"), .capacity = given.integer("capacity")});
  }

  void output() {
    std::string name = cursor_.quoted();
    cursor_.expect('=');
    outputs_.push_back({std::move(name), value()});
  }

  void node() {
    std::vector<std::string> names;
    do {
      cursor_.expect('%');
      names.emplace_back(cursor_.word());
    } while (cursor_.take(','));
    cursor_.expect('=');
    const std::string_view text = cursor_.word();
    const std::optional<Op> op = parse_op(text);
    if (!op) cursor_.fail_at(statement_, fmt::format("unknown op \"{}\"", text));
    const std::vector<Value> results = *op == Op::Constant ? constant() : application(*op);
    if (results.size() != names.size()) {
      cursor_.fail_at(statement_, fmt::format("[{}] has {} results", text, results.size()));
    }
    for (size_t i = 0; i < names.size(); ++i) define(names[i], results[i]);
    origin(results[0].node);
  }

  std::vector<Value> constant() {
    cursor_.expect('(');
    std::vector<std::string_view> elements;
    if (cursor_.peek() != ')') {
      do {
        elements.push_back(cursor_.number());
      } while (cursor_.take(','));
    }
    cursor_.expect(')');
    cursor_.expect(':');
    const TensorType declared = type();
    std::vector<std::byte> bytes;
    if (elements.size() == 1 && elements[0].starts_with("0x")) {
      const std::optional<std::vector<std::byte>> hex = parse_hex(elements[0]);
      if (!hex) cursor_.fail_at(statement_, "[constant] expected whole hexadecimal bytes");
      bytes = *hex;
    } else {
      for (const std::string_view element : elements) {
        if (!parse_element(declared.dtype, element, bytes)) {
          cursor_.fail_at(statement_, fmt::format("[constant] {} is no {}", element,
                                                  to_string(declared.dtype)));
        }
      }
    }
    return {at_statement([&] { return graph_.constant(declared, {bytes, nullptr}); })};
  }

  std::vector<Value> application(Op op) {
    cursor_.expect('(');
    std::vector<Value> operands;
    if (cursor_.peek() != ')') {
      do {
        operands.push_back(value());
      } while (cursor_.take(','));
    }
    cursor_.expect(')');
    Attributes given = attributes(op);
    cursor_.expect(':');
    std::vector<Value> results = at_statement([&] {
      if (op != Op::Dims) return graph_.apply_all(op, std::move(operands), std::move(given));
      if (!operands.empty() || given.find("values") == nullptr)
        throw user_error("[dims] needs values");
      return std::vector{graph_.dims(given.dims("values"), given.integer("scalar", 0) != 0)};
    });
    for (size_t i = 0; i < results.size(); ++i) {
      if (i > 0) cursor_.expect(',');
      const TensorType declared = type();
      if (declared == results[i].type()) continue;
      cursor_.fail_at(statement_, fmt::format("[{}] is declared {}, inferred {}", info(op).text,
                                              declared.to_string(), results[i].type().to_string()));
    }
    return results;
  }

  Attributes attributes(Op op) {
    Attributes result;
    if (!cursor_.take('{')) return result;
    do {
      const std::string name(cursor_.word());
      const std::optional<AttributeKind> kind = attribute_kind(op, name);
      if (!kind) {
        cursor_.fail_at(statement_,
                        fmt::format("[{}] has no attribute \"{}\"", info(op).text, name));
      }
      cursor_.expect('=');
      result.set(name, attribute(*kind));
    } while (cursor_.take(','));
    cursor_.expect('}');
    return result;
  }

  AttributeValue attribute(AttributeKind kind) {
    switch (kind) {
      case AttributeKind::Integer:
        return cursor_.integer();
      case AttributeKind::Number:
        return real();
      case AttributeKind::Text:
        return cursor_.quoted();
      case AttributeKind::DType:
        return dtype();
      case AttributeKind::Integers:
        return list<int64_t>([&] { return cursor_.integer(); });
      case AttributeKind::Dims:
        return list<Dim>([&] { return dim(); });
      case AttributeKind::Numbers:
        return list<double>([&] { return real(); });
      case AttributeKind::Graph:
        if (depth_ == kDepthLimit) cursor_.fail("too many graphs inside of each other");
        return Subgraph(Parser(cursor_, depth_ + 1, graph_.nested()).parse());
      case AttributeKind::Function:
        cursor_.fail_at(statement_, fmt::format("[custom {}] a custom function cannot be read from "
                                                "text: it is code of the process that made it",
                                                cursor_.quoted()));
    }
    throw internal_error("no such kind of attribute");
  }

  template <typename T, typename Read>
  std::vector<T> list(Read&& read) {
    std::vector<T> result;
    cursor_.expect('[');
    if (cursor_.take(']')) return result;
    do {
      result.push_back(read());
    } while (cursor_.take(','));
    cursor_.expect(']');
    return result;
  }

  double real() {
    const std::string_view text = cursor_.number();
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
      cursor_.fail_at(statement_, fmt::format("{} is no number", text));
    }
    return value;
  }

  DType dtype() {
    const std::string_view text = cursor_.word();
    const std::optional<DType> result = parse_dtype(text);
    if (!result) cursor_.fail_at(statement_, fmt::format("unknown dtype \"{}\"", text));
    return *result;
  }

  TensorType type() {
    const DType element = dtype();
    return {Shape(list<Dim>([&] { return dim(); })), element};
  }

  Dim dim() {
    const std::string_view text = cursor_.expression();
    return at_statement([&] {
      return Dim::parse(text, [&](std::string_view name) {
        const auto found = symbols_.find(std::string(name));
        if (found == symbols_.end()) throw user_error("symbol {} is not declared", name);
        return found->second;
      });
    });
  }

  Value value() {
    cursor_.expect('%');
    const std::string name =
        cursor_.peek() == '"' ? quoted(cursor_.quoted()) : std::string(cursor_.word());
    const auto found = values_.find(name);
    if (found == values_.end())
      cursor_.fail_at(statement_, fmt::format("%{} is not defined", name));
    return found->second;
  }

  void define(const std::string& name, const Value& value) {
    if (!values_.emplace(name, value).second) {
      cursor_.fail_at(statement_, fmt::format("%{} is defined twice", name));
    }
  }

  void origin(const Node* node) {
    if (cursor_.take('@')) graph_.set_origin(node, cursor_.quoted());
  }

  TextCursor& cursor_;
  int depth_;
  size_t statement_ = 0;
  Graph graph_;
  std::map<std::string, Symbol> symbols_;
  std::unordered_map<std::string, Value> values_;
  std::vector<Output> outputs_;
  BucketAxes marked_;
};

}  // namespace

Graph parse(std::string_view text) { return parse_marked(text).graph; }

MarkedGraph parse_marked(std::string_view text) {
  TextCursor cursor(text);
  Parser parser(cursor);
  Graph graph = parser.parse();
  return {std::move(graph), parser.take_marks()};
}

}  // namespace tenon::graph
