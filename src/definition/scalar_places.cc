#include "definition/scalar_places.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/utf8.h"

namespace cairn {
namespace {

// The text decoded again, with the source offset of each byte.
struct Decoded {
  std::string text;
  std::vector<std::size_t> origins;

  void put(char c, std::size_t origin) {
    text.push_back(c);
    origins.push_back(origin);
  }
  void put(std::string_view bytes, std::size_t origin) {
    text.append(bytes);
    origins.insert(origins.end(), bytes.size(), origin);
  }
  void append(const Decoded& other) {
    text.append(other.text);
    origins.insert(origins.end(), other.origins.begin(), other.origins.end());
  }
  void clear() {
    text.clear();
    origins.clear();
  }
};

// Follows the rules of libyaml's scanner. The line breaks that only YAML 1.1 knows (NEL, LS, PS) are refused before.
class ScalarScan {
 public:
  ScalarScan(std::string_view source, std::size_t begin, std::size_t end)
      : source_(source.substr(0, end)), at_(begin) {}

  Decoded flow(char quote) {
    if (quote != 0) ++at_;
    while (at_ < source_.size() && !closes(quote)) {
      bool folding = false;
      while (at_ < source_.size() && !is_blank() && break_size() == 0 && !closes(quote)) {
        if (quote == '"' && source_[at_] == '\\') {
          ++at_;
          if (break_size() != 0) {
            at_ += break_size();
            folding = true;
            break;
          }
          escape();
        } else {
          if (quote == '\'' && source_[at_] == '\'') ++at_;
          take();
        }
      }
      fold_spaces(folding);
    }
    return std::move(decoded_);
  }

  // Strips `indent` columns. Without it, the first line with text determines the indentation.
  Decoded block(std::optional<std::size_t> indent) {
    const bool literal = source_[at_] == '|';
    char chomping = 0;
    while (at_ < source_.size() && break_size() == 0) {
      if (chomping == 0 && (source_[at_] == '+' || source_[at_] == '-')) chomping = source_[at_];
      if (source_[at_] == '#') chomping = chomping == 0 ? ' ' : chomping;
      ++at_;
    }
    at_ += break_size();
    Decoded breaks;
    if (!indent) indent = detect_indent();
    skip_empty_lines(*indent, breaks);
    Decoded leading;
    bool was_blank = false;
    while (at_ < source_.size() && column() == *indent) {
      const bool starts_blank = is_blank();
      if (!literal && leading.text.starts_with('\n') && !was_blank && !starts_blank) {
        if (breaks.text.empty()) decoded_.put(' ', leading.origins.front());
      } else {
        decoded_.append(leading);
      }
      leading.clear();
      decoded_.append(breaks);
      breaks.clear();
      was_blank = starts_blank;
      while (at_ < source_.size() && break_size() == 0) take();
      take_break(leading);
      skip_empty_lines(*indent, breaks);
    }
    if (chomping != '-') decoded_.append(leading);
    if (chomping == '+') decoded_.append(breaks);
    return std::move(decoded_);
  }

  // The widest indentation that all lines of a block scalar share.
  std::size_t indent_max() const {
    std::size_t widest = std::string_view::npos;
    std::size_t line = source_.find('\n', at_);
    while (line != std::string_view::npos && line + 1 < source_.size()) {
      const std::size_t text = source_.find_first_not_of(' ', line + 1);
      if (text == std::string_view::npos) break;
      if (source_[text] != '\n' && source_[text] != '\r') widest = std::min(widest, text - line - 1);
      line = source_.find('\n', text);
    }
    return widest == std::string_view::npos ? 0 : widest;
  }

  bool explicit_indent() const {
    for (std::size_t i = at_ + 1; i < source_.size() && i < at_ + 3; ++i) {
      if (source_[i] >= '1' && source_[i] <= '9') return true;
      if (source_[i] != '+' && source_[i] != '-') return false;
    }
    return false;
  }

 private:
  bool is_blank() const { return at_ < source_.size() && (source_[at_] == ' ' || source_[at_] == '\t'); }

  bool closes(char quote) const {
    if (quote == 0 || source_[at_] != quote) return false;
    return quote == '"' || source_.substr(at_, 2) != "''";
  }

  std::size_t break_size() const {
    const std::string_view rest = source_.substr(at_, 2);
    if (rest == "\r\n") return 2;
    return rest.starts_with('\n') || rest.starts_with('\r') ? 1 : 0;
  }

  void take_break(Decoded& into) {
    const std::size_t size = break_size();
    if (size != 0) into.put('\n', at_);
    at_ += size;
  }

  void take() {
    const std::size_t size = std::min<std::size_t>(code_point_at(source_, at_).size, source_.size() - at_);
    decoded_.put(source_.substr(at_, size), at_);
    at_ += size;
  }

  std::size_t column() const {
    std::size_t begin = at_;
    while (begin > 0 && source_[begin - 1] == ' ') --begin;
    return at_ - begin;
  }

  void fold_spaces(bool folding) {
    Decoded spaces, leading, trailing;
    while (at_ < source_.size() && (is_blank() || break_size() != 0)) {
      if (is_blank()) {
        if (!folding) spaces.put(source_[at_], at_);
        ++at_;
      } else if (!folding) {
        spaces.clear();
        take_break(leading);
        folding = true;
      } else {
        take_break(trailing);
      }
    }
    if (!folding) {
      decoded_.append(spaces);
    } else if (leading.text.starts_with('\n')) {
      if (trailing.text.empty()) decoded_.put(' ', leading.origins.front());
      decoded_.append(trailing);
    } else {
      decoded_.append(leading);
      decoded_.append(trailing);
    }
  }

  char32_t hex(std::size_t digits) {
    char32_t value = 0;
    for (; digits > 0 && at_ < source_.size(); --digits, ++at_) {
      const char c = source_[at_];
      const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
      value = value * 16 + static_cast<char32_t>(digit & 15);
    }
    return value;
  }

  void escape() {
    const std::size_t origin = at_ - 1;
    if (at_ == source_.size()) return;
    const char c = source_[at_++];
    char32_t value = static_cast<unsigned char>(c);
    switch (c) {
      case '0': value = 0; break;
      case 'a': value = 0x07; break;
      case 'b': value = 0x08; break;
      case 't': value = 0x09; break;
      case 'n': value = 0x0A; break;
      case 'v': value = 0x0B; break;
      case 'f': value = 0x0C; break;
      case 'r': value = 0x0D; break;
      case 'e': value = 0x1B; break;
      case 'N': value = 0x85; break;
      case '_': value = 0xA0; break;
      case 'L': value = 0x2028; break;
      case 'P': value = 0x2029; break;
      case 'x': value = hex(2); break;
      case 'U': value = hex(8); break;
      case 'u':
        value = hex(4);
        // Only JSON writes one character as two escapes.
        if (value >= 0xD800 && value <= 0xDBFF && source_.substr(at_, 2) == "\\u") {
          at_ += 2;
          value = 0x10000 + ((value - 0xD800) << 10) + (hex(4) - 0xDC00);
        }
        break;
      default: break;
    }
    std::string bytes;
    append_utf8(value, bytes);
    decoded_.put(bytes, origin);
  }

  std::size_t detect_indent() const {
    std::size_t widest = 1;
    for (std::size_t i = at_; i < source_.size();) {
      const std::size_t text = std::min(source_.find_first_not_of(' ', i), source_.size());
      widest = std::max(widest, text - i);
      if (text == source_.size() || (source_[text] != '\n' && source_[text] != '\r')) break;
      i = text + (source_.substr(text, 2) == "\r\n" ? 2 : 1);
    }
    return widest;
  }

  void skip_empty_lines(std::size_t indent, Decoded& breaks) {
    for (;;) {
      for (std::size_t columns = 0; columns < indent && at_ < source_.size() && source_[at_] == ' '; ++columns) ++at_;
      if (break_size() == 0) return;
      take_break(breaks);
    }
  }

  std::string_view source_;
  std::size_t at_;
  Decoded decoded_;
};

Decoded decode(std::string_view source, std::size_t begin, std::size_t end, std::string_view value) {
  const char first = source[begin];
  if (first == '"' || first == '\'') return ScalarScan(source, begin, end).flow(first);
  if (first != '|' && first != '>') return ScalarScan(source, begin, end).flow(0);
  const ScalarScan scan(source, begin, end);
  if (!scan.explicit_indent()) return ScalarScan(scan).block(std::nullopt);
  // An indentation indicator counts from the parent's column, which the scalar does not know. The width that reproduces
  // the text is the right one.
  for (std::size_t indent = scan.indent_max(); indent > 0; --indent) {
    Decoded decoded = ScalarScan(scan).block(indent);
    if (decoded.text == value) return decoded;
  }
  return {};
}

}  // namespace

std::size_t skip_properties(std::string_view source, std::size_t begin, std::size_t end) {
  while (begin < end && (source[begin] == '&' || source[begin] == '!')) {
    while (begin < end && std::string_view(" \t\r\n").find(source[begin]) == std::string_view::npos) ++begin;
    for (;;) {
      while (begin < end && std::string_view(" \t\r\n").find(source[begin]) != std::string_view::npos) ++begin;
      if (begin == end || source[begin] != '#') break;
      while (begin < end && source[begin] != '\n') ++begin;
    }
  }
  return begin;
}

std::size_t source_offset(std::string_view source, std::size_t begin, std::size_t end, std::string_view value,
                          std::size_t offset) {
  end = std::min(end, source.size());
  if (begin >= end) return begin;
  const Decoded decoded = decode(source, begin, end, value);
  if (decoded.text != value || value.empty()) return begin;
  if (offset < decoded.origins.size()) return decoded.origins[offset];
  return std::min(decoded.origins.back() + 1, end);
}

}  // namespace cairn
