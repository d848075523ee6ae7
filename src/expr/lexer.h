// Splits the text of an expression into tokens, one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn::expr {

enum class TokenKind : std::uint8_t {
  end,
  name,
  quoted_name,  // `in back quotes`, text without the quotes
  keyword_in,
  keyword_true,
  keyword_false,
  keyword_null,
  whole,  // 12, 0x1F
  unsigned_whole,
  number,  // 1.5, 1e9
  string,  // with quotes and prefix
  bytes,
  punctuation,  // text is the operator
  invalid,      // message is the reason
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  std::string_view text;
  const char* message = nullptr;

  bool is(std::string_view operator_text) const { return kind == TokenKind::punctuation && text == operator_text; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next();

 private:
  void skip_space();
  Token token(TokenKind kind, std::size_t begin) const;
  Token invalid(std::size_t begin, const char* message) const;
  Token number(std::size_t begin);
  Token quoted(std::size_t begin, bool raw, bool bytes);
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Words that cannot name a variable.
bool is_reserved(std::string_view word);

}  // namespace cairn::expr
