#include "definition/decompile_defaults.h"

#include <algorithm>

namespace cairn {

bool is_left_out(const Json& object, const KeyTable& table, const Key& key, const Json& value) {
  if (key.shape == Shape::derived) return true;
  if (key.otherwise && *key.otherwise == value) return true;
  if (key.shape == Shape::retry && key.inner != nullptr) {
    return std::all_of(key.inner->keys.begin(), key.inner->keys.end(), [&value](const Key& part) {
      const Json* held = value.find(part.name);
      return held == nullptr || (part.otherwise && *part.otherwise == *held);
    });
  }
  if (table.noun == "call" && key.name == "timeout") {
    return value == Json("PT30S") && (object.find("http") != nullptr || object.find("graphql") != nullptr);
  }
  return table.noun == "repeat" && key.name == "as" && value == Json("item");
}

bool is_given_id(std::string_view id) { return !id.empty() && id.find('[') == std::string_view::npos; }

const Json* expression_of(const Json& value) {
  if (!value.is_object() || value.size() != 1) return nullptr;
  const Json* text = value.find("$expr");
  return text != nullptr && text->is_string() ? text : nullptr;
}

std::span<const Json> items_of(const Json& value) {
  return value.is_array() ? std::span<const Json>(value.items()) : std::span<const Json>();
}

std::span<const Json::Member> members_of(const Json& value) {
  return value.is_object() ? std::span<const Json::Member>(value.members()) : std::span<const Json::Member>();
}

std::string_view text_of(const Json& value) { return value.is_string() ? value.as_string() : std::string_view(); }

}  // namespace cairn
