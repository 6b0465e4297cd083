// Tokens of the text form. No token nests, so nothing here recurses; nested expressions are cut out
// by counting.
#include "graph/text_cursor.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/error.h"

namespace tenon::graph {

namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

bool is_number(char c) { return is_word(c) || c == '-' || c == '+'; }

}  // namespace

void TextCursor::skip_space() {
  while (at_ < text_.size()) {
    if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.size(), text_.find('\n', at_));
    } else {
      return;
    }
  }
}

void TextCursor::fail_at(size_t position, std::string_view what) const {
  const std::string_view before = text_.substr(0, std::min(position, text_.size()));
  const auto line = 1 + std::ranges::count(before, '\n');
  const size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  throw user_error("{}:{}: {}", line, before.size() - start + 1, what);
}

void TextCursor::fail(std::string_view what) {
  skip_space();
  fail_at(at_, what);
}

bool TextCursor::at_end() {
  skip_space();
  return at_ == text_.size();
}

char TextCursor::peek() {
  skip_space();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool TextCursor::take(char c) {
  if (at_end() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool TextCursor::take(std::string_view word) {
  skip_space();
  if (!text_.substr(at_).starts_with(word)) return false;
  const size_t end = at_ + word.size();
  if (end < text_.size() && is_word(text_[end])) return false;
  at_ = end;
  return true;
}

void TextCursor::expect(char c) {
  if (!take(c)) fail(fmt::format("expected '{}'", c));
}

std::string_view TextCursor::word() {
  skip_space();
  const size_t start = at_;
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  if (at_ == start) fail("expected a name");
  return text_.substr(start, at_ - start);
}

std::string_view TextCursor::number() {
  skip_space();
  const size_t start = at_;
  while (at_ < text_.size() && is_number(text_[at_])) ++at_;
  if (at_ == start) fail("expected a number");
  return text_.substr(start, at_ - start);
}

int64_t TextCursor::integer() {
  skip_space();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error != std::errc{}) fail("expected a 64-bit integer");
  at_ = static_cast<size_t>(end - text_.data());
  return value;
}

std::string TextCursor::quoted() {
  skip_space();
  const size_t start = at_;
  expect('"');
  std::string result;
  while (at_ < text_.size() && text_[at_] != '"') {
    if (text_[at_] != '\\') {
      result += text_[at_++];
    } else if (text_.substr(at_, 2) == "\\x") {
      unsigned value = 0;
      const std::string_view digits = text_.substr(at_ + 2, 2);
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
      if (error != std::errc{} || end != digits.data() + 2)
        fail_at(at_, "expected two hexadecimal digits");
      result += static_cast<char>(value);
      at_ += 4;
    } else {
      if (at_ + 1 < text_.size()) result += text_[at_ + 1];
      at_ = std::min(text_.size(), at_ + 2);
    }
  }
  if (at_ == text_.size()) fail_at(start, "the string does not end");
  ++at_;
  return result;
}

std::string TextCursor::name() { return peek() == '"' ? quoted() : std::string(word()); }

std::string_view TextCursor::expression() {
  skip_space();
  const size_t start = at_;
  int depth = 0;
  bool in_quotes = false;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (in_quotes) {
      if (c == '\\') ++at_;
      if (c == '"') in_quotes = false;
    } else if (c == '"') {
      in_quotes = true;
    } else if (c == '(') {
      ++depth;
    } else if (depth == 0 && (c == ',' || c == ']' || c == ')')) {
      break;
    } else if (c == ')') {
      --depth;
    } else if (c == '\n') {
      break;
    }
  }
  at_ = std::min(at_, text_.size());
  if (at_ == start) fail("expected an expression");
  return text_.substr(start, at_ - start);
}

}  // namespace tenon::graph
