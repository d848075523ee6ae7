// Scans JSON text and calls a handler for each value with its byte offset. It builds no value.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/utf8.h"

namespace cairn {

struct JsonFault {
  std::size_t offset = 0;
  ErrorCode code = ErrorCode::invalid;
  std::string message;
};

// A Handler has: void null(at), boolean(at, bool), integer(at, int64), number(at, double), string(at, string_view),
// begin_array(at), end_array(at), begin_object(at), bool key(at, string_view) (false: the key is a duplicate),
// end_object(at). `at` is the byte offset where the value begins; for the ends, the offset of the bracket.
template <class Handler>
class JsonScanner {
 public:
  JsonScanner(std::string_view text, const JsonLimits& limits, Handler& handler)
      : text_(text), limits_(limits), handler_(handler) {}

  Result<void, JsonFault> scan() {
    if (text_.size() > limits_.bytes_max) {
      return JsonFault{0, ErrorCode::limit,
                       "the text has " + std::to_string(text_.size()) + " bytes, more than the limit of " +
                           std::to_string(limits_.bytes_max)};
    }
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
    if (const std::size_t bad = find_invalid_utf8(text_); bad != std::string_view::npos) {
      return JsonFault{bad, ErrorCode::invalid, "not valid UTF-8"};
    }
    skip_space();
    if (at_ == text_.size()) return fault("the text is empty; expected a JSON value");
    // A stack of open brackets replaces recursion: one level costs a byte instead of a stack frame.
    std::vector<Open> open;
    bool value_next = true;
    for (;;) {
      if (value_next) {
        skip_space();
        if (at_ == text_.size()) return unclosed(open);
        const char c = text_[at_];
        if (c == '{' || c == '[') {
          if (static_cast<int>(open.size()) >= limits_.depth_max) {
            return JsonFault{at_, ErrorCode::limit,
                             "nested deeper than " + std::to_string(limits_.depth_max) + " levels"};
          }
          open.push_back({c, at_});
          c == '{' ? handler_.begin_object(at_) : handler_.begin_array(at_);
          ++at_;
          skip_space();
          if (at_ < text_.size() && text_[at_] == (c == '{' ? '}' : ']')) {
            close(open);
            value_next = false;
          } else if (c == '{') {
            CAIRN_TRY_VOID(key(open));
          }
          if (value_next) continue;
        } else {
          CAIRN_TRY_VOID(scalar(open));
          value_next = false;
        }
      }
      if (open.empty()) break;
      skip_space();
      if (at_ == text_.size()) return unclosed(open);
      const char c = text_[at_];
      const bool object = open.back().bracket == '{';
      if (c == ',') {
        ++at_;
        skip_space();
        if (at_ < text_.size() && (text_[at_] == '}' || text_[at_] == ']'))
          return fault("a comma before the closing bracket");
        if (object) CAIRN_TRY_VOID(key(open));
        value_next = true;
      } else if (c == (object ? '}' : ']')) {
        close(open);
      } else {
        return fault(object ? "expected `,` or `}` in the object" : "expected `,` or `]` in the array");
      }
    }
    skip_space();
    if (at_ != text_.size()) return fault("unexpected text after the JSON value");
    return {};
  }

 private:
  struct Open {
    char bracket;
    std::size_t at;
  };

  JsonFault fault(std::string message) const { return {at_, ErrorCode::invalid, std::move(message)}; }

  JsonFault unclosed(const std::vector<Open>& open) const {
    if (open.empty()) return fault("expected a JSON value");
    const LineColumn place = line_column_at(text_, open.back().at);
    return fault(std::string("the `") + open.back().bracket + "` opened at " + std::to_string(place.line) + ":" +
                 std::to_string(place.column) + " is never closed");
  }

  void close(std::vector<Open>& open) {
    open.back().bracket == '{' ? handler_.end_object(at_) : handler_.end_array(at_);
    open.pop_back();
    ++at_;
  }

  void skip_space() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c != ' ' && c != '\n' && c != '\r' && c != '\t') break;
      ++at_;
    }
  }

  Result<void, JsonFault> key(const std::vector<Open>& open) {
    if (at_ == text_.size()) return unclosed(open);
    if (text_[at_] != '"') return fault("expected a member name in double quotes");
    const std::size_t begin = at_;
    CAIRN_TRY(const std::string_view name, quoted());
    if (!handler_.key(begin, name)) {
      return JsonFault{begin, ErrorCode::invalid, "duplicate key \"" + std::string(name) + "\""};
    }
    skip_space();
    if (at_ == text_.size() || text_[at_] != ':') return fault("expected `:` after the member name");
    ++at_;
    return {};
  }

  Result<void, JsonFault> scalar(const std::vector<Open>& open) {
    const std::size_t begin = at_;
    const char c = text_[at_];
    if (c == '"') {
      CAIRN_TRY(const std::string_view value, quoted());
      handler_.string(begin, value);
      return {};
    }
    if (c == '-' || (c >= '0' && c <= '9')) return number();
    if (word("true")) {
      handler_.boolean(begin, true);
    } else if (word("false")) {
      handler_.boolean(begin, false);
    } else if (word("null")) {
      handler_.null(begin);
    } else if (c == '}' || c == ']') {
      return fault(open.empty() ? "expected a JSON value"
                                : std::string("`") + c + "` closes nothing that is open here");
    } else if (c == '\'') {
      return fault("JSON text needs double quotes");
    } else {
      return fault("expected a JSON value");
    }
    return {};
  }

  bool word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }

  Result<void, JsonFault> number() {
    const std::size_t begin = at_;
    const auto digits = [this] {
      const std::size_t first = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
      return at_ - first;
    };
    if (text_[at_] == '-') ++at_;
    const std::size_t whole = at_;
    const std::size_t whole_digits = digits();
    if (whole_digits == 0) return fault("expected a digit");
    if (whole_digits > 1 && text_[whole] == '0') {
      at_ = whole;
      return fault("a number may not begin with 0 and another digit");
    }
    bool integral = true;
    if (at_ < text_.size() && text_[at_] == '.') {
      integral = false;
      ++at_;
      if (digits() == 0) return fault("expected a digit after the decimal point");
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      integral = false;
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (digits() == 0) return fault("expected a digit in the exponent");
    }
    const char* first = text_.data() + begin;
    const char* last = text_.data() + at_;
    if (integral) {
      std::int64_t value = 0;
      if (std::from_chars(first, last, value).ec == std::errc()) {
        handler_.integer(begin, value);
        return {};
      }
    }
    double value = 0;
    const auto read = std::from_chars(first, last, value);
    if (read.ec == std::errc::result_out_of_range) {
      // A number too small for a double becomes zero. One that is too large is rejected.
      value = std::strtod(std::string(first, last).c_str(), nullptr);
      if (value > 1 || value < -1) {
        at_ = begin;
        return fault("the number is too large for a double");
      }
    }
    handler_.number(begin, value);
    return {};
  }

  // The decoded text of the string that begins at at_. It points into the source if the string has no escapes,
  // otherwise into buffer_. Both are valid until the next call.
  Result<std::string_view, JsonFault> quoted() {
    const std::size_t begin = at_++;
    std::size_t plain = at_;
    bool escaped = false;
    for (;;) {
      if (at_ == text_.size()) {
        const LineColumn place = line_column_at(text_, begin);
        return fault("the text opened at " + std::to_string(place.line) + ":" + std::to_string(place.column) +
                     " is never closed");
      }
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') break;
      if (c < 0x20)
        return fault(c == 0 ? "U+0000 is not allowed in text" : "a control character must be escaped in text");
      if (c != '\\') {
        ++at_;
        continue;
      }
      if (!escaped) {
        buffer_.assign(text_.substr(plain, at_ - plain));
        escaped = true;
      } else {
        buffer_.append(text_.substr(plain, at_ - plain));
      }
      CAIRN_TRY_VOID(escape());
      plain = at_;
    }
    std::string_view value = text_.substr(plain, at_ - plain);
    ++at_;
    if (!escaped) return value;
    buffer_.append(value);
    return std::string_view(buffer_);
  }

  Result<void, JsonFault> escape() {
    const std::size_t begin = at_++;
    const char c = at_ < text_.size() ? text_[at_++] : '\0';
    switch (c) {
      case '"':
      case '\\':
      case '/': buffer_.push_back(c); return {};
      case 'b': buffer_.push_back('\b'); return {};
      case 'f': buffer_.push_back('\f'); return {};
      case 'n': buffer_.push_back('\n'); return {};
      case 'r': buffer_.push_back('\r'); return {};
      case 't': buffer_.push_back('\t'); return {};
      case 'u': break;
      default: return JsonFault{begin, ErrorCode::invalid, "unknown escape in text"};
    }
    CAIRN_TRY(char32_t unit, hex4(begin));
    if (unit == 0 && !limits_.nul_allowed) return JsonFault{begin, ErrorCode::invalid, "U+0000 is not allowed in text"};
    if (unit >= 0xD800 && unit <= 0xDBFF && text_.substr(at_, 2) == "\\u") {
      at_ += 2;
      CAIRN_TRY(const char32_t low, hex4(begin));
      if (low < 0xDC00 || low > 0xDFFF)
        return JsonFault{begin, ErrorCode::invalid, "a lone surrogate is not allowed in text"};
      unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    } else if (unit >= 0xD800 && unit <= 0xDFFF) {
      return JsonFault{begin, ErrorCode::invalid, "a lone surrogate is not allowed in text"};
    }
    append_utf8(unit, buffer_);
    return {};
  }

  Result<char32_t, JsonFault> hex4(std::size_t escape_begin) {
    std::uint32_t value = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 4 || read.ec != std::errc() || read.ptr != digits.data() + 4) {
      return JsonFault{escape_begin, ErrorCode::invalid, "\\u needs four hexadecimal digits"};
    }
    at_ += 4;
    return static_cast<char32_t>(value);
  }

  std::string_view text_;
  const JsonLimits& limits_;
  Handler& handler_;
  std::size_t at_ = 0;
  std::string buffer_;
};

}  // namespace cairn
