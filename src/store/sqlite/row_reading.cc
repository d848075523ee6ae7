#include "store/sqlite/row_reading.h"

namespace cairn::sqlite {

std::optional<std::string_view> reference_key(const Reference& reference) {
  if (!reference.key.is_string()) return std::nullopt;
  return reference.key.as_string();
}

Json reference_parts(const Reference& reference) {
  return reference.parts.is_object() && reference.parts.size() > 0 ? reference.parts : Json();
}

}  // namespace cairn::sqlite
