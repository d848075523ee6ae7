#include "expr/lexer.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace cairn::expr {

namespace {

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool begins_name(char c) { return is_letter(c) || c == '_'; }

}  // namespace

bool is_reserved(std::string_view word) {
  static constexpr std::array<std::string_view, 17> words = {
      "as",  "break", "const",     "continue", "else",   "for", "function", "if",   "import",
      "let", "loop",  "namespace", "package",  "return", "var", "void",     "while"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
      ++at_;
    } else if (c == '/' && peek(1) == '/') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else {
      break;
    }
  }
}

Token Lexer::token(TokenKind kind, std::size_t begin) const {
  return {kind, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_ - begin),
          text_.substr(begin, at_ - begin), nullptr};
}

Token Lexer::invalid(std::size_t begin, const char* message) const {
  Token result = token(TokenKind::invalid, begin);
  result.message = message;
  return result;
}

Token Lexer::next() {
  skip_space();
  const std::size_t begin = at_;
  if (at_ == text_.size()) return token(TokenKind::end, begin);
  const char c = text_[at_];
  if (begins_name(c)) {
    const bool prefix_raw = c == 'r' || c == 'R';
    const bool prefix_bytes = c == 'b' || c == 'B';
    if (prefix_raw || prefix_bytes) {
      const char second = peek(1);
      if (second == '"' || second == '\'') {
        ++at_;
        return quoted(begin, prefix_raw, prefix_bytes);
      }
      const bool other_prefix = prefix_raw ? second == 'b' || second == 'B' : second == 'r' || second == 'R';
      if (other_prefix && (peek(2) == '"' || peek(2) == '\'')) {
        at_ += 2;
        return quoted(begin, true, true);
      }
    }
    while (at_ < text_.size() && (begins_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
    Token result = token(TokenKind::name, begin);
    if (result.text == "in") result.kind = TokenKind::keyword_in;
    if (result.text == "true") result.kind = TokenKind::keyword_true;
    if (result.text == "false") result.kind = TokenKind::keyword_false;
    if (result.text == "null") result.kind = TokenKind::keyword_null;
    return result;
  }
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number(begin);
  if (c == '"' || c == '\'') return quoted(begin, false, false);
  if (c == '`') {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '`' && text_[at_] != '\n') ++at_;
    if (peek() != '`') return invalid(begin, "the back quote is never closed");
    Token result = token(TokenKind::quoted_name, begin + 1);
    ++at_;
    if (result.text.empty()) return invalid(begin, "a name in back quotes may not be empty");
    result.offset = static_cast<std::uint32_t>(begin);
    result.length = static_cast<std::uint32_t>(at_ - begin);
    return result;
  }
  static constexpr std::array<std::string_view, 6> pairs = {"==", "!=", "<=", ">=", "&&", "||"};
  for (const std::string_view pair : pairs) {
    if (text_.substr(at_, 2) == pair) {
      at_ += 2;
      return token(TokenKind::punctuation, begin);
    }
  }
  ++at_;
  if (std::string_view("()[]{}.,?:+-*/%!<>").find(c) != std::string_view::npos) {
    return token(TokenKind::punctuation, begin);
  }
  if (c == '=') return invalid(begin, "`=` is not an operator; equality is `==`");
  if (c == '&') return invalid(begin, "`&` is not an operator; and is `&&`");
  if (c == '|') return invalid(begin, "`|` is not an operator; or is `||`");
  while (at_ < text_.size() && (static_cast<unsigned char>(text_[at_]) & 0xC0) == 0x80) ++at_;
  return invalid(begin, "this character has no meaning here");
}

Token Lexer::number(std::size_t begin) {
  TokenKind kind = TokenKind::whole;
  if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X') && is_hex(peek(2))) {
    at_ += 2;
    while (is_hex(peek())) ++at_;
  } else {
    while (is_digit(peek())) ++at_;
    if (peek() == '.' && is_digit(peek(1))) {
      kind = TokenKind::number;
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    if (peek() == 'e' || peek() == 'E') {
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if (is_digit(peek(1 + sign))) {
        kind = TokenKind::number;
        at_ += 1 + sign;
        while (is_digit(peek())) ++at_;
      }
    }
  }
  if (kind == TokenKind::whole && (peek() == 'u' || peek() == 'U')) {
    kind = TokenKind::unsigned_whole;
    ++at_;
  }
  if (begins_name(peek()) || is_digit(peek())) {
    while (begins_name(peek()) || is_digit(peek())) ++at_;
    return invalid(begin, "a number may not run into a name");
  }
  return token(kind, begin);
}

Token Lexer::quoted(std::size_t begin, bool raw, bool bytes) {
  const TokenKind kind = bytes ? TokenKind::bytes : TokenKind::string;
  const char quote = text_[at_];
  if (peek(1) == quote && peek(2) == quote) {
    at_ += 3;
    while (at_ < text_.size()) {
      if (text_[at_] == '\\' && !raw) {
        at_ += 2;
      } else if (text_[at_] == quote && peek(1) == quote && peek(2) == quote) {
        at_ += 3;
        return token(kind, begin);
      } else {
        ++at_;
      }
    }
    at_ = text_.size();
    return invalid(begin, "the text in triple quotes is never closed");
  }
  ++at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n' || c == '\r')
      return invalid(begin, "the text is not closed on its line; use triple quotes for several lines");
    if (c == '\\' && !raw) {
      at_ += 2;
    } else if (c == quote) {
      ++at_;
      return token(kind, begin);
    } else {
      ++at_;
    }
  }
  at_ = text_.size();
  return invalid(begin, "the text is never closed");
}

}  // namespace cairn::expr
