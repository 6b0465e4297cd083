// Reading the text of a kernel: a position in it, the words and numbers there, the symbols in
// scope. Text comes from files, so whatever is wrong with it is a User error with line and column.
// Private to the parser.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernel.h"
#include "tenon/error.h"

namespace tenon::kernel {

// An error whose message says where.
class ParseError : public Error {
 public:
  explicit ParseError(const std::string& message) : Error(ErrorKind::User, message) {}
};

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  [[noreturn]] void fail(std::string_view what) const;

  // Spaces between tokens are skipped; a line's end is a token.
  char peek();
  bool take(std::string_view token);  // a word is taken only whole
  void expect(std::string_view token);
  void expect_line_end();
  bool at_end() const { return at_ == text_.size(); }
  size_t mark() const { return at_; }
  void rewind(size_t mark) { at_ = mark; }
  std::string_view word();  // may be empty
  std::string name();       // an identifier or a quoted name
  int64_t integer();
  double number(DType dtype);
  Dim dim();

  // Blank lines are skipped. The spaces that the next line opens with, -1 at the end of the text.
  int indentation();

  // The meaning of names in dims; the latest binding of a name counts.
  std::vector<Symbol> symbols;
  Symbol symbol(std::string_view name) const;
  const Symbol& bind(Symbol symbol) { return symbols.emplace_back(std::move(symbol)); }

 private:
  void skim_dim();
  void skim_operand();
  void skim_parentheses();
  void skim_quoted();
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  std::string_view text_;
  size_t at_ = 0;
};

// Expressions. `definitions` are those of the statement being read.
class ExprParser {
 public:
  explicit ExprParser(Cursor& in) : in_(in) {}

  std::map<std::string, int> buffers;  // by name as spelled
  std::vector<DType> dtypes;           // per buffer
  std::map<int64_t, ExprRef> definitions;

  int buffer();
  ExprRef expr();
  std::vector<Guard> guards(std::string_view word);  // none unless `word` comes next
  Symbol range(Dim& extent);                         // `k in 384`; binds it
  void definition();                                 // `%0(k in 384) = ...`, a whole line

 private:
  ExprRef load();
  ExprRef call(std::string_view function);
  ExprRef call(Op op);
  ExprRef reduction(Op op);
  std::vector<ExprRef> operands(Op op, bool first);
  DType dtype();

  Cursor& in_;
  int nesting_ = 0;
};

}  // namespace tenon::kernel
