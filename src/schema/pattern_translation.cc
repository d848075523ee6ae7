// Reads a pattern character by character and writes the equivalent RE2 pattern. Where the dialects agree, the text
// passes unchanged. Every character of a class is written as its code point, so RE2 cannot read it as one of its own
// extensions.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

#include "base/utf8.h"
#include "schema/characters.h"
#include "schema/pattern.h"

namespace cairn::schema {
namespace {

constexpr std::string_view space_ranges =
    R"(\x{9}-\x{d}\x{20}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff})";
constexpr std::string_view not_space_ranges =
    R"(\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e})"
    R"(\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff})";

struct CategoryName {
  std::string_view name;
  std::string_view re2;
};
constexpr std::array<CategoryName, 37> categories = {{
    {"Letter", "L"},
    {"Cased_Letter", "LC"},
    {"Uppercase_Letter", "Lu"},
    {"Lowercase_Letter", "Ll"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Combining_Mark", "M"},
    {"Nonspacing_Mark", "Mn"},
    {"Spacing_Mark", "Mc"},
    {"Enclosing_Mark", "Me"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Connector_Punctuation", "Pc"},
    {"Dash_Punctuation", "Pd"},
    {"Open_Punctuation", "Ps"},
    {"Close_Punctuation", "Pe"},
    {"Initial_Punctuation", "Pi"},
    {"Final_Punctuation", "Pf"},
    {"Other_Punctuation", "Po"},
    {"Symbol", "S"},
    {"Math_Symbol", "Sm"},
    {"Currency_Symbol", "Sc"},
    {"Modifier_Symbol", "Sk"},
    {"Other_Symbol", "So"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Line_Separator", "Zl"},
    {"Paragraph_Separator", "Zp"},
    {"Control", "Cc"},
    {"Format", "Cf"},
}};

class Translation {
 public:
  explicit Translation(std::string_view pattern) : pattern_(pattern) {}

  Result<TranslatedPattern, std::string> run() {
    while (at_ < pattern_.size() && fault_.empty()) step();
    if (!fault_.empty()) return fault_;
    return TranslatedPattern{std::move(out_), std::move(unsupported_)};
  }

 private:
  bool ended() const { return at_ >= pattern_.size(); }
  bool follows(std::string_view text) const { return pattern_.substr(at_, text.size()) == text; }
  void fail(std::string message) {
    if (fault_.empty()) fault_ = std::move(message);
  }
  void cannot(std::string_view what) {
    if (unsupported_.empty()) {
      unsupported_ = "the pattern uses " + std::string(what) + ", which cannot run in linear time and is not supported";
    }
  }

  static void append_code_point(char32_t point, std::string& out) {
    char digits[8];
    const auto written = std::to_chars(digits, digits + sizeof digits, static_cast<std::uint32_t>(point), 16);
    out += "\\x{";
    out.append(digits, written.ptr);
    out += '}';
  }

  void step() {
    switch (pattern_[at_]) {
      case '\\':
        ++at_;
        escape();
        return;
      case '[':
        ++at_;
        character_class();
        return;
      case '(': group(); return;
      case '.': out_ += R"([^\n\r\x{2028}\x{2029}])"; break;
      case '{': quantifier(); return;
      default: out_ += pattern_[at_];
    }
    ++at_;
  }

  void quantifier() {
    std::size_t end = at_ + 1;
    while (end < pattern_.size() && (is_digit(pattern_[end]) || pattern_[end] == ',')) ++end;
    const bool counts = end > at_ + 1 && is_digit(pattern_[at_ + 1]) && end < pattern_.size() && pattern_[end] == '}';
    out_ += counts ? "{" : "\\{";
    ++at_;
  }

  void group() {
    ++at_;
    if (!follows("?")) {
      out_ += '(';
    } else if (follows("?:")) {
      at_ += 2;
      out_ += "(?:";
    } else if (follows("?=") || follows("?!") || follows("?<=") || follows("?<!")) {
      cannot("look-around");
      at_ += follows("?<") ? 3 : 2;
      out_ += "(?:";
    } else if (follows("?<")) {
      at_ += 2;
      const std::size_t end = pattern_.find('>', at_);
      if (end == std::string_view::npos || end == at_) return fail("the pattern has a group without a name: (?<");
      at_ = end + 1;
      out_ += '(';
    } else {
      fail("the pattern has an unknown kind of group: (?");
    }
  }

  // A hexadecimal number of exactly `digits` digits.
  std::optional<char32_t> hex(std::size_t digits) {
    if (at_ + digits > pattern_.size()) return std::nullopt;
    char32_t value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const int digit = hex_digit(pattern_[at_ + i]);
      if (digit < 0) return std::nullopt;
      value = value * 16 + static_cast<char32_t>(digit);
    }
    at_ += digits;
    return value;
  }

  // After \u: XXXX, a surrogate pair of them, or {X…}.
  std::optional<char32_t> unicode_escape() {
    if (follows("{")) {
      const std::size_t end = pattern_.find('}', at_);
      if (end == std::string_view::npos || end == at_ + 1 || end - at_ > 8) return std::nullopt;
      ++at_;
      const auto value = hex(end - at_);
      ++at_;
      if (!value || *value > 0x10ffff || (*value >= 0xd800 && *value < 0xe000)) return std::nullopt;
      return value;
    }
    const auto first = hex(4);
    if (!first || *first < 0xd800 || *first >= 0xe000) return first;
    if (*first >= 0xdc00 || !follows("\\u")) return std::nullopt;
    at_ += 2;
    const auto second = hex(4);
    if (!second || *second < 0xdc00 || *second >= 0xe000) return std::nullopt;
    return 0x10000 + ((*first - 0xd800) << 10) + (*second - 0xdc00);
  }

  // The character that an escape stands for; the backslash has been read. Empty after a fault.
  std::optional<char32_t> escaped_character() {
    const CodePoint point = code_point_at(pattern_, at_);
    const char32_t c = point.value;
    at_ += point.size;
    switch (c) {
      case 't': return U'\t';
      case 'n': return U'\n';
      case 'v': return U'\v';
      case 'f': return U'\f';
      case 'r': return U'\r';
      case '0':
        if (!ended() && is_digit(pattern_[at_])) fail("the pattern has an octal escape");
        return U'\0';
      case 'c':
        if (ended() || !is_letter(pattern_[at_])) {
          fail("the pattern has \\c without a letter");
          return std::nullopt;
        }
        return static_cast<char32_t>(pattern_[at_++] & 0x1f);
      case 'x':
        if (const auto value = hex(2)) return value;
        fail("the pattern has \\x without two hexadecimal digits");
        return std::nullopt;
      case 'u':
        if (const auto value = unicode_escape()) return value;
        fail("the pattern has \\u without a valid code point");
        return std::nullopt;
      default: break;
    }
    if (c < 0x80 && is_letter_or_digit(static_cast<char>(c))) {
      fail(std::string("the pattern has an unknown escape: \\") + static_cast<char>(c));
      return std::nullopt;
    }
    return c;
  }

  // \d \w \s \p{…} and their negations, as the content of a class. False if the escape is none of them.
  bool class_escape(std::string& out) {
    switch (pattern_[at_]) {
      case 'd':
      case 'D':
      case 'w':
      case 'W': (out += '\\') += pattern_[at_]; break;
      case 's': out += space_ranges; break;
      case 'S': out += not_space_ranges; break;
      case 'p':
      case 'P': property(out); return true;
      default: return false;
    }
    ++at_;
    return true;
  }

  void property(std::string& out) {
    const bool negated = pattern_[at_] == 'P';
    const std::size_t end = pattern_.find('}', at_);
    if (pattern_.substr(at_ + 1, 1) != "{" || end == std::string_view::npos) {
      return fail("the pattern has \\p without {…}");
    }
    std::string_view name = pattern_.substr(at_ + 2, end - at_ - 2);
    at_ = end + 1;
    for (const std::string_view key : {"General_Category=", "gc=", "Script=", "sc=", "Script_Extensions=", "scx="}) {
      if (!name.starts_with(key)) continue;
      name.remove_prefix(key.size());
      break;
    }
    if (name == "ASCII") {
      out += negated ? R"(\x{80}-\x{10ffff})" : R"(\x{0}-\x{7f})";
      return;
    }
    const auto known = std::find_if(categories.begin(), categories.end(),
                                    [&](const CategoryName& category) { return category.name == name; });
    if (known != categories.end()) name = known->re2;
    if (name == "LC") {
      if (negated) return fail("the pattern uses \\P{LC}, which is not supported");
      out += R"(\p{Lu}\p{Ll}\p{Lt})";
      return;
    }
    std::string translated = std::string(negated ? "\\P{" : "\\p{") + std::string(name) + "}";
    // Compiling a Unicode class takes a millisecond, and a pattern may repeat the same class many times.
    if (!known_properties_.contains(translated) && !is_pattern_syntax(translated)) {
      return fail("the pattern uses the Unicode property `" + std::string(name) + "`, which is not supported");
    }
    out += translated;
    known_properties_.insert(std::move(translated));
  }

  void escape() {
    if (ended()) return fail("the pattern ends with a backslash");
    const char c = pattern_[at_];
    if (c >= '1' && c <= '9') {
      cannot("a back-reference");
      while (!ended() && is_digit(pattern_[at_])) ++at_;
      out_ += "(?:)";
      return;
    }
    if (follows("k<")) {
      cannot("a back-reference");
      const std::size_t end = pattern_.find('>', at_);
      if (end == std::string_view::npos) return fail("the pattern has \\k< without >");
      at_ = end + 1;
      out_ += "(?:)";
      return;
    }
    if (c == 'b' || c == 'B') {
      (out_ += '\\') += c;
      ++at_;
      return;
    }
    std::string inside;
    if (class_escape(inside)) {
      ((out_ += '[') += inside) += ']';
      return;
    }
    if (const auto character = escaped_character()) append_code_point(*character, out_);
  }

  // One character of a class. For a whole escape such as \d it writes to `out` and answers empty.
  std::optional<char32_t> class_atom(std::string& out) {
    if (pattern_[at_] != '\\') {
      const CodePoint point = code_point_at(pattern_, at_);
      at_ += point.size;
      return point.value;
    }
    ++at_;
    if (ended()) {
      fail("the pattern ends with a backslash");
      return std::nullopt;
    }
    if (pattern_[at_] == 'b') {
      ++at_;
      return U'\b';
    }
    if (class_escape(out)) return std::nullopt;
    return escaped_character();
  }

  void character_class() {
    const bool negated = follows("^");
    if (negated) ++at_;
    std::string inside;
    while (fault_.empty()) {
      if (ended()) return fail("the pattern has a [ without ]");
      if (pattern_[at_] == ']') break;
      const auto first = class_atom(inside);
      if (!fault_.empty()) return;
      const bool range = follows("-") && at_ + 1 < pattern_.size() && pattern_[at_ + 1] != ']';
      if (!range) {
        if (first) append_code_point(*first, inside);
        continue;
      }
      ++at_;
      std::string last_escape;
      const auto last = class_atom(last_escape);
      if (!fault_.empty()) return;
      if (!first || !last) return fail("the pattern has a range that begins or ends with a class such as \\d");
      if (*first > *last) return fail("the pattern has a range that runs backwards");
      append_code_point(*first, inside);
      inside += '-';
      append_code_point(*last, inside);
    }
    ++at_;
    if (inside.empty()) {
      // [] matches nothing and [^] matches everything. RE2 reads both differently.
      out_ += negated ? R"([\x{0}-\x{10ffff}])" : R"([^\x{0}-\x{10ffff}])";
    } else {
      ((out_ += negated ? "[^" : "[") += inside) += ']';
    }
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  std::string out_;
  std::string fault_;
  std::string unsupported_;
  std::set<std::string> known_properties_;
};

}  // namespace

Result<TranslatedPattern, std::string> translate_pattern(std::string_view pattern) {
  return Translation(pattern).run();
}

}  // namespace cairn::schema
