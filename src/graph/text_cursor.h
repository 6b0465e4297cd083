// A cursor over the text form of a graph: skips space and comments, reads tokens, and knows line
// and column for errors.
#pragma once

#include <string>
#include <string_view>

namespace tenon::graph {

class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text) {}

  bool at_end();
  char peek();  // the next character that is no space; 0 at the end
  bool take(char c);
  bool take(std::string_view word);  // a whole word
  void expect(char c);
  std::string_view word();    // letters, digits, '_' and '.'; an error if there is none
  std::string_view number();  // whatever may stand in a number, hexadecimal and nan included
  int64_t integer();
  std::string quoted();  // "..." with \" \\ and \xHH
  std::string name();    // a word or a quoted string
  // The text up to the next of , ] ) at this nesting: what Dim::parse reads.
  std::string_view expression();

  size_t position() const { return at_; }
  // Throws a User error "3:14: what"; at the token last begun, or at `position`.
  [[noreturn]] void fail(std::string_view what);
  [[noreturn]] void fail_at(size_t position, std::string_view what) const;

 private:
  void skip_space();

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace tenon::graph
