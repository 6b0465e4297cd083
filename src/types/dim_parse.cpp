// Reads the text of a Dim. The text comes from users and files, so anything malformed, too deep or
// out of range is a User error that quotes it.
#include <cctype>
#include <charconv>

#include "base/error.h"
#include "types/dim_node.h"

namespace tenon {
namespace {

constexpr int kMaxNesting = 200;

using SymbolOf = std::function<Symbol(std::string_view)>;

class Parser {
 public:
  Parser(std::string_view text, const SymbolOf& symbol) : text_(text), symbol_(symbol) {}

  Dim run() {
    Dim result = sum();
    skip_space();
    if (at_ != text_.size()) fail("unexpected text");
    return result;
  }

 private:
  Dim sum();
  Dim product();
  Dim factor();
  Dim number();
  Dim name_or_call();
  Dim call(std::string_view function);
  std::string quoted_name();

  [[noreturn]] void fail(std::string_view what) const {
    constexpr size_t kShown = 80;
    throw user_error("[dim] {} at position {} of '{}'{}", what, at_, text_.substr(0, kShown),
                     text_.size() > kShown ? "..." : "");
  }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (at_ >= text_.size() || peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    skip_space();
    if (!take(c)) fail(std::string("expected '") + c + "'");
  }

  std::string_view text_;
  const SymbolOf& symbol_;
  size_t at_ = 0;
  int nesting_ = 0;
};

Dim Parser::sum() {
  if (++nesting_ > kMaxNesting) fail("expression nested too deep");
  Dim total = product();
  for (;;) {
    if (take('+')) {
      total = total + product();
    } else if (take('-')) {
      total = total - product();
    } else {
      --nesting_;
      return total;
    }
  }
}

Dim Parser::product() {
  bool negative = false;
  while (take('-')) negative = !negative;
  const char next = peek();
  // The sign belongs to the number, so that the smallest 64-bit integer can be read.
  const bool is_number = std::isdigit(static_cast<unsigned char>(next)) != 0;
  if (negative && is_number) --at_;
  Dim result = negative && is_number ? number() : factor();
  while (take('*')) result = result * factor();
  return negative && !is_number ? result * Dim(-1) : result;
}

Dim Parser::factor() {
  const char next = peek();
  if (take('(')) {
    Dim inner = sum();
    expect(')');
    return inner;
  }
  if (std::isdigit(static_cast<unsigned char>(next)) != 0) return number();
  if (next == '-') {
    if (++nesting_ > kMaxNesting) fail("expression nested too deep");
    ++at_;
    const Dim inner = factor();
    --nesting_;
    return inner * Dim(-1);
  }
  if (next == '"') return symbol_(quoted_name());
  return name_or_call();
}

Dim Parser::number() {
  std::string digits;
  if (take('-')) digits = "-";
  skip_space();
  while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
    digits += text_[at_++];
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) fail("integer out of range");
  return value;
}

Dim Parser::name_or_call() {
  skip_space();
  const size_t begin = at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.') break;
    ++at_;
  }
  const std::string_view name = text_.substr(begin, at_ - begin);
  if (name.empty() || name[0] == '.') fail("expected a number, a name or '('");
  if (peek() == '(') return call(name);
  return symbol_(name);
}

Dim Parser::call(std::string_view function) {
  expect('(');
  std::vector<Dim> args;
  do {
    args.push_back(sum());
  } while (take(','));
  expect(')');
  if (args.size() < 2) fail("a function needs two arguments");
  const bool is_min = function == "min", is_max = function == "max";
  if (is_min || is_max) {
    Dim result = args[0];
    for (size_t i = 1; i < args.size(); ++i) {
      result = is_min ? min(result, args[i]) : max(result, args[i]);
    }
    return result;
  }
  if (args.size() != 2) fail("a division needs two arguments");
  if (function == "floordiv") return floordiv(args[0], args[1]);
  if (function == "ceildiv") return ceildiv(args[0], args[1]);
  if (function == "mod") return mod(args[0], args[1]);
  fail("unknown function");
}

std::string Parser::quoted_name() {
  std::string name;
  for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
    if (text_[at_] == '\\' && ++at_ == text_.size()) break;
    name += text_[at_];
  }
  if (at_ >= text_.size()) fail("unterminated name");
  ++at_;
  return name;
}

}  // namespace

Dim Dim::parse(std::string_view text, const std::function<Symbol(std::string_view)>& symbol) {
  return Parser(text, symbol).run();
}

}  // namespace tenon
