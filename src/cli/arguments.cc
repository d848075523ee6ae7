#include "cli/arguments.h"

#include <algorithm>

#include "base/suggest.h"

namespace cairn::cli {
namespace {

const Flag* find_flag(const CommandSpec& spec, std::string_view name) {
  for (const Flag& flag : spec.flags) {
    if (flag.name == name || (!flag.letter.empty() && flag.letter == name)) return &flag;
  }
  return nullptr;
}

Error unknown_flag(const CommandSpec& spec, std::string_view name) {
  std::vector<std::string_view> known{"--help"};
  for (const Flag& flag : spec.flags) known.push_back(flag.name);
  std::string message = "unknown flag " + std::string(name);
  if (const auto near = nearest_name(name, known)) message += "; did you mean " + *near + "?";
  return {ErrorCode::invalid, message + " (cairn " + std::string(spec.name) + " --help lists them)"};
}

}  // namespace

Result<Arguments> Arguments::read(const CommandSpec& spec, std::span<const std::string> args) {
  Arguments result;
  bool flags_over = false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& word = args[i];
    if (flags_over || word.size() < 2 || word[0] != '-') {
      result.positional_.push_back(word);
      continue;
    }
    if (word == "--") {
      flags_over = true;
      continue;
    }
    if (word == "--help" || word == "-h") {
      result.help_ = true;
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string_view name = std::string_view(word).substr(0, equals);
    const Flag* flag = find_flag(spec, name);
    if (!flag) return unknown_flag(spec, name);
    if (flag->value.empty()) {
      if (equals != std::string::npos) return Error{ErrorCode::invalid, std::string(name) + " takes no value"};
      result.given_.push_back({flag->name, ""});
    } else if (equals != std::string::npos) {
      result.given_.push_back({flag->name, word.substr(equals + 1)});
    } else if (i + 1 < args.size()) {
      result.given_.push_back({flag->name, args[++i]});
    } else {
      return Error{ErrorCode::invalid,
                   std::string(name) + " needs a value: " + std::string(flag->name) + " " + std::string(flag->value)};
    }
  }
  return result;
}

bool takes_words(std::string_view usage) {
  bool value_may_follow = false;  // the previous word was a flag
  int depth = 0;
  for (std::size_t at = 0; at < usage.size();) {
    const std::size_t end = std::min(usage.find(' ', at), usage.size());
    const std::string_view word = usage.substr(at, end - at);
    at = end + 1;
    if (word.empty() || word == "\u2026") continue;
    const std::size_t first = word.find_first_not_of('[');
    const bool flag = first != std::string_view::npos && word[first] == '-';
    if (!flag && !value_may_follow) return true;
    depth += static_cast<int>(std::count(word.begin(), word.end(), '['));
    depth -= static_cast<int>(std::count(word.begin(), word.end(), ']'));
    value_may_follow = flag && (first == 0 || depth > 0);
  }
  return false;
}

bool Arguments::has(std::string_view flag) const {
  return std::any_of(given_.begin(), given_.end(), [&](const Given& one) { return one.flag == flag; });
}

std::optional<std::string> Arguments::value(std::string_view flag) const {
  for (auto it = given_.rbegin(); it != given_.rend(); ++it) {
    if (it->flag == flag) return it->value;
  }
  return std::nullopt;
}

std::vector<std::string> Arguments::values(std::string_view flag) const {
  std::vector<std::string> found;
  for (const Given& one : given_) {
    if (one.flag == flag) found.push_back(one.value);
  }
  return found;
}

void print_help(const CommandSpec& spec, std::ostream& out) {
  out << spec.summary << "\n\nUsage: " << (spec.name.starts_with("cairn-") ? "" : "cairn ") << spec.name
      << (spec.usage.empty() ? "" : " ") << spec.usage << "\n";
  if (!spec.details.empty()) out << "\n" << spec.details << "\n";
  out << "\nFlags:\n";
  std::vector<std::pair<std::string, std::string_view>> rows;
  for (const Flag& flag : spec.flags) {
    std::string left = flag.letter.empty() ? "" : std::string(flag.letter) + ", ";
    left += flag.name;
    if (!flag.value.empty()) left += " " + std::string(flag.value);
    rows.emplace_back(left, flag.help);
  }
  rows.emplace_back("-h, --help", "show this help");
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.first.size());
  for (const auto& [left, right] : rows) {
    out << "  " << left << std::string(width - left.size() + 2, ' ') << right << "\n";
  }
  if (!spec.examples.empty()) out << "\nExamples:\n";
  for (const std::string_view example : spec.examples) out << "  " << example << "\n";
}

}  // namespace cairn::cli
