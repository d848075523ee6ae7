#include "store/postgres/wire/row_reading.h"

#include <algorithm>
#include <cctype>

#include "base/ascii.h"

namespace cairn::postgres {

std::optional<std::string> reference_key(const Reference& reference) { return key_text(reference.key); }

Json reference_parts(const Reference& reference) {
  return reference.parts.is_object() && reference.parts.size() > 0 ? reference.parts : Json();
}

std::optional<std::string> key_text(const Json& key) {
  if (!key.is_string()) return std::nullopt;
  return std::string(key.as_string());
}

std::optional<std::string> text_or_null(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

std::optional<std::string> json_or_null(const Json& value) {
  if (value.is_null()) return std::nullopt;
  return write_json(value);
}

std::optional<std::string> search_tail(std::string_view text) {
  constexpr std::size_t bytes_max = 16;
  if (text.empty()) return std::nullopt;
  std::size_t from = text.size() <= bytes_max ? 0 : text.size() - bytes_max;
  while ((static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) ++from;  // inside a character
  return ascii_lower(text.substr(from));
}

bool is_own_uuid(const RunId& id) { return is_plain_uuid(id.value); }

std::string run_uuid(const RunId& id) { return is_own_uuid(id) ? id.value : derived_uuid("run", id.value); }

}  // namespace cairn::postgres
