#include "expr/string_format.h"

#include <algorithm>
#include <charconv>

#include "base/utf8.h"
#include "expr/decimal_value.h"
#include "expr/duration_text.h"
#include "expr/number_text.h"

namespace cairn::expr {

namespace {

using Kind = Value::Kind;

bool append_at(Context& context, const Value& value, std::string& out, int depth) {
  if (depth > 512) {
    context.fail("invalid_argument", "the value is nested too deep");
    return false;
  }
  const std::size_t before = out.size();
  switch (value.kind()) {
    case Kind::null: out += "null"; break;
    case Kind::boolean: out += value.as_bool() ? "true" : "false"; break;
    case Kind::integer: out += std::to_string(value.as_integer()); break;
    case Kind::unsigned_integer: out += std::to_string(value.as_unsigned()); break;
    case Kind::number: out += format_number(value.as_number()); break;
    case Kind::string: out += value.as_text(); break;
    case Kind::bytes:
      if (!is_utf8(value.as_text())) {
        context.fail("invalid_argument", "the bytes are not valid UTF-8");
        return false;
      }
      out += value.as_text();
      break;
    case Kind::timestamp: out += format_timestamp(value.as_timestamp()); break;
    case Kind::duration: out += format_seconds(value.as_duration()); break;
    case Kind::type: out += value.as_type(); break;
    case Kind::decimal:
    case Kind::opaque: out += value.as_opaque().text(); break;
    case Kind::list:
      out += '[';
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (i > 0) out += ", ";
        if (!append_at(context, value.item(i), out, depth + 1)) return false;
      }
      out += ']';
      break;
    case Kind::map: {
      std::vector<std::pair<std::string, Value>> entries;
      for (std::size_t i = 0; i < value.size(); ++i) {
        std::string key;
        if (!append_at(context, value.key(i), key, depth + 1)) return false;
        entries.emplace_back(std::move(key), value.value(i));
      }
      std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      out += '{';
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (i > 0) out += ", ";
        out += entries[i].first + ": ";
        if (!append_at(context, entries[i].second, out, depth + 1)) return false;
      }
      out += '}';
      break;
    }
    case Kind::optional:
      if (!value.has_value()) {
        out += "optional.none()";
      } else {
        out += "optional(";
        if (!append_at(context, value.optional_value(), out, depth + 1)) return false;
        out += ')';
      }
      break;
    case Kind::error: return false;
  }
  return context.spend_steps(1 + (out.size() - before) / 16) && context.spend_bytes(out.size() - before);
}

std::string digits_of(std::uint64_t value, int base) {
  char buffer[65];
  const auto written = std::to_chars(buffer, buffer + sizeof buffer, value, base);
  return std::string(buffer, written.ptr);
}

std::string signed_digits(std::int64_t value, int base) {
  const auto magnitude = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  return (value < 0 ? "-" : "") + digits_of(magnitude, base);
}

class Formatting {
 public:
  Formatting(Context& context, std::string_view pattern, const Value& items)
      : context_(context), pattern_(pattern), items_(items) {}

  Value run() {
    while (at_ < pattern_.size()) {
      if (pattern_[at_] != '%') {
        out_ += pattern_[at_++];
        continue;
      }
      ++at_;
      if (at_ < pattern_.size() && pattern_[at_] == '%') {
        out_ += pattern_[at_++];
        continue;
      }
      if (!clause()) return context_.error();
    }
    if (!context_.spend_steps(pattern_.size() / 16)) return context_.error();
    return context_.text(out_);
  }

 private:
  bool fail(std::string message) {
    context_.fail("invalid_argument", std::move(message));
    return false;
  }
  bool unfit(const char* what, const Value& value) {
    return fail(std::string(what) + ", found " + std::string(describe(value.kind())));
  }

  bool clause() {
    int precision = 6;
    if (at_ < pattern_.size() && pattern_[at_] == '.') {
      const char* begin = pattern_.data() + at_ + 1;
      const auto read = std::from_chars(begin, pattern_.data() + pattern_.size(), precision);
      if (read.ec != std::errc() || precision < 0 || precision > 100)
        return fail("the precision after `%.` is not a number up to 100");
      at_ = static_cast<std::size_t>(read.ptr - pattern_.data());
    }
    if (at_ == pattern_.size()) return fail("the pattern ends inside a `%` clause");
    const char letter = pattern_[at_++];
    if (std::string_view("sdfebxXo").find(letter) == std::string_view::npos) {
      return fail(std::string("`%") + letter + "` is not a clause; use %s %d %f %e %b %x %X %o");
    }
    if (next_ >= items_.size())
      return fail("the pattern wants more than the " + std::to_string(items_.size()) + " values given");
    const Value value = items_.item(next_++);
    switch (letter) {
      case 's': return append_text(context_, value, out_);
      case 'd': return decimal(value);
      case 'f':
      case 'e': return real(value, letter, precision);
      case 'b': return whole(value, 2, "%b writes whole numbers and bools");
      case 'o': return whole(value, 8, "%o writes whole numbers");
      default: return hexadecimal(value, letter == 'X');
    }
  }

  bool decimal(const Value& value) {
    if (value.is(Kind::number)) {
      const double number = value.as_number();
      if (number == number && number - number == 0) return unfit("%d writes whole numbers", value);
      out_ += format_number(number);
      return true;
    }
    if (!value.is(Kind::integer) && !value.is(Kind::unsigned_integer)) return unfit("%d writes whole numbers", value);
    return append_text(context_, value, out_);
  }

  bool real(const Value& value, char letter, int precision) {
    if (value.is(Kind::decimal) && letter == 'f') {
      const auto rounded = as_decimal(value).round(precision, Rounding::half_even);
      if (!rounded) return fail(rounded.error().message);
      out_ += rounded->text();
      return true;
    }
    if (!value.is_number()) return unfit("%f and %e write numbers", value);
    const double number = value.to_double();
    out_ += letter == 'f' ? format_fixed(number, precision) : format_scientific(number, precision);
    return true;
  }

  bool whole(const Value& value, int base, const char* message) {
    if (value.is(Kind::integer)) {
      out_ += signed_digits(value.as_integer(), base);
    } else if (value.is(Kind::unsigned_integer)) {
      out_ += digits_of(value.as_unsigned(), base);
    } else if (value.is(Kind::boolean) && base == 2) {
      out_ += value.as_bool() ? '1' : '0';
    } else {
      return unfit(message, value);
    }
    return true;
  }

  bool hexadecimal(const Value& value, bool upper) {
    std::string digits;
    if (value.is(Kind::string) || value.is(Kind::bytes)) {
      if (!context_.spend_bytes(value.as_text().size() * 2)) return false;
      for (const char c : value.as_text()) {
        digits += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
        digits += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
      }
    } else if (value.is(Kind::integer)) {
      digits = signed_digits(value.as_integer(), 16);
    } else if (value.is(Kind::unsigned_integer)) {
      digits = digits_of(value.as_unsigned(), 16);
    } else {
      return unfit("%x writes whole numbers, text and bytes", value);
    }
    if (upper) {
      for (char& c : digits) {
        if (c >= 'a') c = static_cast<char>(c - 'a' + 'A');
      }
    }
    out_ += digits;
    return true;
  }

  Context& context_;
  std::string_view pattern_;
  const Value& items_;
  std::size_t at_ = 0;
  std::size_t next_ = 0;
  std::string out_;
};

}  // namespace

bool append_text(Context& context, const Value& value, std::string& out) { return append_at(context, value, out, 0); }

Value format_text(Context& context, std::string_view pattern, const Value& items) {
  return Formatting(context, pattern, items).run();
}

}  // namespace cairn::expr
