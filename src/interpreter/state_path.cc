#include "interpreter/state_path.h"

namespace cairn {

std::optional<std::string> find_conflict(const Json& state, const StatePath& path) {
  const Json* at = &state;
  std::string walked = "state";
  for (std::size_t i = 0; i + 1 < path.names.size(); ++i) {
    at = at->find(path.names[i]);
    if (!at || at->is_null()) return std::nullopt;
    walked += "." + path.names[i];
    if (!at->is_object()) {
      return "state." + path.text + " cannot be assigned: " + walked + " is " + to_string(at->kind()) +
             ", not an object";
    }
  }
  return std::nullopt;
}

void set_path(Json& state, const StatePath& path, Json value) {
  Json* at = &state;
  for (std::size_t i = 0; i + 1 < path.names.size(); ++i) {
    at = &at->edit(path.names[i]);
    if (at->is_null()) *at = Json::object();
  }
  at->set(path.names.back(), std::move(value));
}

std::string pointer_of(const StatePath& path) {
  std::string pointer;
  for (const std::string& name : path.names) pointer += "/" + name;  // names need no escapes
  return pointer;
}

const Json* find_value(const Json& state, const StatePath& path) {
  const Json* at = &state;
  for (const std::string& name : path.names) {
    at = at->is_object() ? at->find(name) : nullptr;
    if (at == nullptr) return nullptr;
  }
  return at;
}

}  // namespace cairn
