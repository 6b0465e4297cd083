// Expressions as text: `fma(x[i*384 + k], w[k*1536 + j], acc[0])`. A shared node is printed once,
// as a definition; inside a reduction the definition names the ranges it depends on,
// `%0(k in 384) = exp(x[k])`, because it stands where they are not bound yet.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "kernel/text.h"

namespace tenon::kernel {
namespace {

// An expression that grows taller than this above its definitions gets another one, so that the
// parser's limit on nesting never meets printed text.
constexpr int kMaxHeight = 24;

bool is_leaf(const Expr& expr) { return expr.args.empty(); }

// Decimal text of an f32 constant is read back as an f32; the hexadecimal form is for values that
// are none.
std::string number_text(DType dtype, double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (dtype != DType::F32) return fmt::format("{}", value);
  const auto narrow = static_cast<float>(value);
  if (static_cast<double>(narrow) == value) return fmt::format("{}", narrow);
  return fmt::format("{:a}", value);
}

void insert_symbols(const Dim& dim, std::set<Symbol>& set) {
  for (const Symbol& symbol : dim.symbols()) set.insert(symbol);
}

class Printer {
 public:
  Printer(const std::vector<ExprRef>& roots, const std::vector<std::string>& buffers,
          const std::vector<BoundRange>& bound)
      : buffers_(buffers) {
    for (const ExprRef& root : roots) for_each(root, [&](const Expr& e) { survey(e); });
    ranges_.insert(ranges_.end(), bound.begin(), bound.end());
    for (const ExprRef& root : roots) ++facts_.at(root.get()).uses;
    for (const Expr* expr : order_) define_if_needed(*expr);
    for (const ExprRef& root : roots) result_.roots.push_back(reference(*root));
  }
  ExprText take() { return std::move(result_); }

 private:
  struct Facts {
    int uses = 0;
    int height = 0;         // above the definitions below it
    std::set<Symbol> free;  // used and not bound by a reduction inside
    std::string name;       // %n, where it has a definition
  };

  void survey(const Expr& expr);
  void define_if_needed(const Expr& expr);
  std::string parameters(const Facts& facts) const;
  std::string reference(const Expr& expr) const;
  std::string text(const Expr& expr) const;
  std::string call(std::string_view function, std::vector<std::string> parts,
                   const Expr& expr) const;

  const std::vector<std::string>& buffers_;
  std::unordered_map<const Expr*, Facts> facts_;
  std::vector<const Expr*> order_;  // operands first
  std::vector<BoundRange> ranges_;  // bound within the statement, inner ones first
  ExprText result_;
};

void Printer::survey(const Expr& expr) {
  if (facts_.contains(&expr)) return;
  Facts facts;
  insert_symbols(expr.index, facts.free);
  for (const Guard& guard : expr.guards) {
    insert_symbols(guard.index, facts.free);
    insert_symbols(guard.bound, facts.free);
  }
  for (const ExprRef& arg : expr.args) {
    Facts& below = facts_.at(arg.get());
    ++below.uses;
    facts.free.insert(below.free.begin(), below.free.end());
  }
  for (const Symbol& symbol : expr.range) facts.free.erase(symbol);
  insert_symbols(expr.bound, facts.free);
  facts_.emplace(&expr, std::move(facts));
  order_.push_back(&expr);
  if (has(expr.op, kReduce)) ranges_.push_back({expr.range.at(0), expr.bound});
}

void Printer::define_if_needed(const Expr& expr) {
  Facts& facts = facts_.at(&expr);
  for (const ExprRef& arg : expr.args) {
    facts.height = std::max(facts.height, facts_.at(arg.get()).height + 1);
  }
  if (is_leaf(expr) || (facts.uses < 2 && facts.height < kMaxHeight)) return;
  const std::string name = fmt::format("%{}", result_.definitions.size());
  result_.definitions.push_back(fmt::format("{}{} = {}", name, parameters(facts), text(expr)));
  facts.name = name;
  facts.height = 0;
}

// The ranges bound around the node, within the statement, that it uses; outer ones first.
std::string Printer::parameters(const Facts& facts) const {
  std::vector<std::string> parts;
  std::set<Symbol> wanted = facts.free;
  for (const auto& [symbol, extent] : ranges_) {
    if (wanted.erase(symbol) == 0) continue;
    insert_symbols(extent, wanted);
    parts.push_back(fmt::format("{} in {}", Dim(symbol).to_string(), extent.to_string()));
  }
  std::reverse(parts.begin(), parts.end());
  return parts.empty() ? "" : fmt::format("({})", fmt::join(parts, ", "));
}

std::string Printer::reference(const Expr& expr) const {
  const std::string& name = facts_.at(&expr).name;
  return name.empty() ? text(expr) : name;
}

std::string Printer::call(std::string_view function, std::vector<std::string> parts,
                          const Expr& expr) const {
  for (const ExprRef& arg : expr.args) parts.push_back(reference(*arg));
  return fmt::format("{}({})", function, fmt::join(parts, ", "));
}

std::string Printer::text(const Expr& expr) const {
  const auto buffer = [&] {
    const auto at = static_cast<size_t>(expr.buffer);
    return at < buffers_.size() ? buffers_[at] : fmt::format("\"buffer {}\"", expr.buffer);
  };
  const std::string_view op = info(expr.op).text;
  const std::string dtype(to_string(expr.dtype));
  if (expr.op == Op::Const) {
    return fmt::format("{}({})", dtype, number_text(expr.dtype, expr.value));
  }
  if (expr.op == Op::Index) return call(op, {dtype, expr.index.to_string()}, expr);
  if (expr.op == Op::InRange) {
    return call(op, {expr.index.to_string(), expr.bound.to_string()}, expr);
  }
  if (expr.op == Op::Load) {
    return fmt::format("{}[{}]{}", buffer(), expr.index.to_string(),
                       print_guards(" if", expr.guards));
  }
  if (expr.op == Op::Cast || expr.op == Op::BitCast) return call(op, {dtype}, expr);
  if (has(expr.op, kLanes)) return call(op, {buffer()}, expr);
  if (!has(expr.op, kReduce)) return call(op, {}, expr);
  const std::string symbol = Dim(expr.range.at(0)).to_string();
  return call(op, {fmt::format("{} in {}", symbol, expr.bound.to_string())}, expr);
}

}  // namespace

ExprText print_exprs(const std::vector<ExprRef>& roots, const std::vector<std::string>& buffers,
                     const std::vector<BoundRange>& bound) {
  return Printer(roots, buffers, bound).take();
}

std::string print_guards(std::string_view word, const std::vector<Guard>& guards) {
  std::string text;
  for (const Guard& guard : guards) {
    text += fmt::format("{} 0 <= {} < {}", text.empty() ? word : " and", guard.index.to_string(),
                        guard.bound.to_string());
  }
  return text;
}

}  // namespace tenon::kernel
