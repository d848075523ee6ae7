#include "definition/names.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/utf8.h"

namespace cairn {
namespace {

std::string instead(std::string_view text) { return "; `" + std::string(text) + "` does not fit"; }

// Whether every part between dots is non-empty and has only `allowed` characters.
template <class Allowed>
bool is_dotted(std::string_view text, Allowed allowed) {
  bool part_empty = true;
  for (const char c : text) {
    if (c == '.') {
      if (part_empty) return false;
      part_empty = true;
    } else if (!allowed(c)) {
      return false;
    } else {
      part_empty = false;
    }
  }
  return !part_empty;
}

std::optional<std::string> workflow_name_fault(std::string_view text) {
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_' || c == '-'; };
  if (is_dotted(text, allowed)) return std::nullopt;
  return "has small letters, digits, `_` and `-` in parts joined by dots, as in `loan.approval`" + instead(text);
}

std::optional<std::string> version_fault(std::string_view text) {
  const auto allowed = [](char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '+' || c == '_';
  };
  if ((is_letter(text[0]) || is_digit(text[0])) && std::all_of(text.begin(), text.end(), allowed)) return std::nullopt;
  return "has letters, digits, `.`, `-`, `+` and `_`, as in `1.0.0`" + instead(text);
}

}  // namespace

bool is_plain_name(std::string_view text) {
  if (text.empty() || !(is_letter(text[0]) || text[0] == '_')) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; });
}

bool is_reserved_name(std::string_view text) {
  static constexpr std::array<std::string_view, 35> reserved = {
      "input", "state", "ref", "workflow", "task", "completion", "signal", "error", "item", "index", "config", "now",
      // Reserved words of CEL.
      "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
      "let", "loop", "package", "namespace", "return", "var", "void", "while", "has", "secret"};
  return std::find(reserved.begin(), reserved.end(), text) != reserved.end();
}

std::optional<StatePath> parse_state_path(std::string_view text) {
  StatePath path{std::string(text), {}};
  std::size_t begin = 0;
  for (;;) {
    const std::size_t dot = text.find('.', begin);
    const std::string_view name = text.substr(begin, dot == std::string_view::npos ? dot : dot - begin);
    if (!is_plain_name(name)) return std::nullopt;
    path.names.emplace_back(name);
    if (dot == std::string_view::npos) return path;
    begin = dot + 1;
  }
}

std::optional<std::string> name_fault(Shape shape, std::string_view text, const Limits& limits) {
  if (shape == Shape::text) return std::nullopt;
  if (text.empty()) return "may not be empty";
  if (count_code_points(text) > limits.name_length_max) {
    return "is longer than " + std::to_string(limits.name_length_max) + " characters";
  }
  switch (shape) {
    case Shape::workflow_name: return workflow_name_fault(text);
    case Shape::version: return version_fault(text);
    case Shape::step_id:
      if (is_plain_name(text)) return std::nullopt;
      return "begins with a letter or `_` and continues with letters, digits, `_` and `-`" + instead(text);
    case Shape::identifier: {
      const bool shaped = is_plain_name(text) && text.find('-') == std::string_view::npos;
      if (!shaped) return "begins with a letter or `_` and continues with letters, digits and `_`" + instead(text);
      if (is_reserved_name(text)) return "may not be `" + std::string(text) + "`, which is a built-in name";
      return std::nullopt;
    }
    case Shape::branch_name: {
      const auto forbidden = [](char c) {
        return c == '.' || c == '[' || c == ']' || c == '#' || (c >= 0 && c <= ' ');
      };
      if (std::none_of(text.begin(), text.end(), forbidden)) return std::nullopt;
      return "has no blanks, dots, brackets and `#`" + instead(text);
    }
    case Shape::signal_name: {
      const auto allowed = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '-'; };
      if (std::all_of(text.begin(), text.end(), allowed)) return std::nullopt;
      return "has letters, digits, `_`, `.` and `-` only" + instead(text);
    }
    case Shape::type_name: {
      const auto allowed = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; };
      if (is_dotted(text, allowed)) return std::nullopt;
      return "has letters, digits, `_` and `-` in parts joined by dots, as in `billing.charge.v1`" + instead(text);
    }
    default: return std::nullopt;
  }
}

}  // namespace cairn
