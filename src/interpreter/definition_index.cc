#include "interpreter/definition_index.h"

#include <algorithm>
#include <string_view>

namespace cairn {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Compares two parts between dots: -1, 0 or 1.
int compare_parts(std::string_view a, std::string_view b) {
  if (is_digits(a) && is_digits(b)) {
    a.remove_prefix(std::min(a.find_first_not_of('0'), a.size()));
    b.remove_prefix(std::min(b.find_first_not_of('0'), b.size()));
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  } else if (is_digits(a) != is_digits(b)) {
    return is_digits(a) ? -1 : 1;
  }
  const int order = a.compare(b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

std::string_view take_part(std::string_view& text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::string_view part = text.substr(0, dot);
  text.remove_prefix(std::min(dot + 1, text.size()));
  return part;
}

int compare_dotted(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (const int order = compare_parts(take_part(a), take_part(b)); order != 0) return order;
  }
  return a.empty() ? (b.empty() ? 0 : -1) : 1;
}

}  // namespace

bool version_before(const std::string& a, const std::string& b) {
  const auto split = [](std::string_view text) {
    text = text.substr(0, text.find('+'));
    const std::size_t dash = std::min(text.find('-'), text.size());
    return std::pair{text.substr(0, dash), dash < text.size() ? text.substr(dash + 1) : std::string_view()};
  };
  const auto [a_release, a_pre] = split(a);
  const auto [b_release, b_pre] = split(b);
  if (const int order = compare_dotted(a_release, b_release); order != 0) return order < 0;
  if (a_pre.empty() != b_pre.empty()) return !a_pre.empty();
  return compare_dotted(a_pre, b_pre) < 0;
}

void DefinitionIndex::add(std::shared_ptr<const Program> program) {
  auto& programs = by_name_[program->name];
  std::erase_if(programs, [&](const auto& known) { return known->version == program->version; });
  const auto place = std::upper_bound(programs.begin(), programs.end(), program, [](const auto& a, const auto& b) {
    return version_before(a->version, b->version);
  });
  programs.insert(place, std::move(program));
}

std::shared_ptr<const Program> DefinitionIndex::find(const std::string& name,
                                                     const std::optional<std::string>& version) const {
  const auto programs = by_name_.find(name);
  if (programs == by_name_.end()) return nullptr;
  if (!version) return programs->second.back();
  for (const auto& program : programs->second) {
    if (program->version == *version) return program;
  }
  return nullptr;
}

std::vector<std::string> DefinitionIndex::versions(const std::string& name) const {
  std::vector<std::string> found;
  const auto programs = by_name_.find(name);
  if (programs == by_name_.end()) return found;
  for (const auto& program : programs->second) found.push_back(program->version);
  return found;
}

std::vector<std::string> DefinitionIndex::names() const {
  std::vector<std::string> found;
  for (const auto& [name, programs] : by_name_) found.push_back(name);
  return found;
}

}  // namespace cairn
