#include "expr/secret_mark.h"

#include <algorithm>

namespace cairn::expr {

namespace {

bool is_mark_of(std::string_view text, std::span<const std::string> named) {
  if (!text.starts_with(mark_kind)) return false;
  text.remove_prefix(mark_kind.size());
  return std::any_of(named.begin(), named.end(), [&](const std::string& name) {
    return text.starts_with(name) && text.substr(name.size()).starts_with(mark_end);
  });
}

bool has_marks(const Json& value) {
  if (value.is_string()) return value.as_string().find(mark_begin) != std::string_view::npos;
  if (value.is_array()) return std::any_of(value.items().begin(), value.items().end(), has_marks);
  if (!value.is_object()) return false;
  return std::any_of(value.members().begin(), value.members().end(), [](const Json::Member& member) {
    return member.key.view().find(mark_begin) != std::string_view::npos || has_marks(member.value);
  });
}

std::string seal_text(std::string_view text, std::span<const std::string> named) {
  std::string out;
  for (;;) {
    const std::size_t at = text.find(mark_begin);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + mark_begin.size());
    out += mark_begin;
    if (!is_mark_of(text, named)) out += mark_literal;
  }
}

}  // namespace

std::string secret_marker(std::string_view name) {
  return std::string(mark_begin) + std::string(mark_kind) + std::string(name) + std::string(mark_end);
}

Json seal(const Json& value, std::span<const std::string> named) {
  if (!has_marks(value)) return value;
  if (value.is_string()) return Json(seal_text(value.as_string(), named));
  if (value.is_array()) {
    Json::Array items;
    for (const Json& item : value.items()) items.push_back(seal(item, named));
    return Json(std::move(items));
  }
  Json::Members members;
  for (const Json::Member& member : value.members()) {
    members.emplace_back(seal_text(member.key.view(), named), seal(member.value, named));
  }
  return Json::object(std::move(members));
}

}  // namespace cairn::expr
