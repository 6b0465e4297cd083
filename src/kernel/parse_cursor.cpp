// The tokens of a kernel's text. Index expressions are read by Dim::parse; here it is only found
// where they end: operands joined by operators, so a word after an operand is the next thing.
#include "kernel/parse_cursor.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

namespace tenon::kernel {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

}  // namespace

void Cursor::fail(std::string_view what) const {
  size_t line = 1;
  size_t start = 0;
  for (size_t i = 0; i < at_; ++i) {
    if (text_[i] != '\n') continue;
    ++line;
    start = i + 1;
  }
  throw ParseError(fmt::format("[kernel text] {}:{}: {}", line, at_ - start + 1, what));
}

char Cursor::peek() {
  while (here() == ' ') ++at_;
  return here();
}

bool Cursor::take(std::string_view token) {
  peek();
  if (text_.substr(at_, token.size()) != token) return false;
  const size_t end = at_ + token.size();
  const bool is_word = is_part(token.front()) && token.front() != '.';
  if (is_word && end < text_.size() && is_part(text_[end])) return false;
  at_ = end;
  return true;
}

void Cursor::expect(std::string_view token) {
  if (!take(token)) fail(fmt::format("expected '{}'", token));
}

void Cursor::expect_line_end() {
  if (peek() == '\n') {
    ++at_;
  } else if (!at_end()) {
    fail("expected the end of the line");
  }
}

std::string_view Cursor::word() {
  peek();
  const size_t begin = at_;
  if (!is_digit(here()) && here() != '.') {
    while (is_part(here())) ++at_;
  }
  return text_.substr(begin, at_ - begin);
}

std::string Cursor::name() {
  if (peek() == '"') {
    const size_t begin = at_;
    skim_quoted();
    std::string name;
    for (size_t i = begin + 1; i + 1 < at_; ++i) {
      if (text_[i] == '\\') ++i;
      name += text_[i];
    }
    return name;
  }
  const std::string_view found = word();
  if (found.empty()) fail("expected a name");
  return std::string(found);
}

int64_t Cursor::integer() {
  peek();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error != std::errc{}) fail("expected an integer");
  at_ = static_cast<size_t>(end - text_.data());
  return value;
}

double Cursor::number(DType dtype) {
  peek();
  const char* last = text_.data() + text_.size();
  const bool negative = here() == '-';
  const size_t begin = at_ + (negative ? 1 : 0);
  const bool hex = text_.substr(begin, 2) == "0x";
  const char* first = text_.data() + begin + (hex ? 2 : 0);
  double value = 0;
  std::from_chars_result result{};
  if (hex || dtype != DType::F32) {
    const auto format = hex ? std::chars_format::hex : std::chars_format::general;
    result = std::from_chars(first, last, value, format);
  } else {
    float narrow = 0;
    result = std::from_chars(first, last, narrow);
    value = narrow;
  }
  if (result.ec != std::errc{} || (first != last && *first == '-')) fail("expected a number");
  at_ = static_cast<size_t>(result.ptr - text_.data());
  return negative ? -value : value;
}

Dim Cursor::dim() {
  peek();
  const size_t begin = at_;
  skim_dim();
  const size_t end = at_;
  at_ = begin;  // where an error in it is reported
  Dim result = Dim::parse(text_.substr(begin, end - begin),
                          [this](std::string_view name) { return symbol(name); });
  at_ = end;
  return result;
}

void Cursor::skim_dim() {
  for (;;) {
    while (peek() == '-') ++at_;
    skim_operand();
    const size_t end = at_;
    const char next = peek();
    if (next != '+' && next != '-' && next != '*') {
      at_ = end;
      return;
    }
    ++at_;
  }
}

void Cursor::skim_operand() {
  const size_t begin = at_;
  if (here() == '"') {
    skim_quoted();
  } else {
    while (is_part(here())) ++at_;
  }
  if (here() == '(') skim_parentheses();
  if (at_ == begin) fail("expected an index expression");
}

void Cursor::skim_parentheses() {
  int open = 0;
  do {
    if (here() == '"') {
      skim_quoted();
      continue;
    }
    if (at_end() || here() == '\n') fail("expected ')'");
    open += here() == '(' ? 1 : here() == ')' ? -1 : 0;
    ++at_;
  } while (open > 0);
}

void Cursor::skim_quoted() {
  for (++at_; here() != '"' && !at_end(); ++at_) {
    if (here() == '\\') ++at_;
  }
  if (at_ >= text_.size()) {
    at_ = text_.size();
    fail("unterminated name");
  }
  ++at_;
}

int Cursor::indentation() {
  for (;;) {
    size_t end = at_;
    while (end < text_.size() && text_[end] == ' ') ++end;
    if (end == text_.size()) return -1;
    if (text_[end] != '\n') return static_cast<int>(end - at_);
    at_ = end + 1;
  }
}

Symbol Cursor::symbol(std::string_view name) const {
  for (size_t i = symbols.size(); i-- > 0;) {
    if (symbols[i].name() == name) return symbols[i];
  }
  fail(fmt::format("symbol '{}' is not bound", name));
}

}  // namespace tenon::kernel
