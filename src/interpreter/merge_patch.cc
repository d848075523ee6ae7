#include "interpreter/merge_patch.h"

#include <string>

namespace cairn {
namespace {

constexpr std::size_t named_max = 50;

std::string escaped(std::string_view key) {
  std::string text;
  for (const char c : key) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text;
}

// The recursion is bounded: the JSON parser limits the depth of the patch.
void collect(const Json& patch, const std::string& place, Json& into) {
  if (into.size() > named_max) return;
  if (!patch.is_object() || patch.members().empty()) {
    into.push_back(into.size() < named_max ? place : "…");
    return;
  }
  for (const Json::Member& member : patch.members()) collect(member.value, place + "/" + escaped(member.key), into);
}

}  // namespace

// The recursion is bounded: the JSON parser limits the depth of the patch.
Json merge_patch(const Json& target, const Json& patch) {
  if (!patch.is_object()) return patch;
  Json merged = target.is_object() ? target : Json::object();
  for (const Json::Member& member : patch.members()) {
    if (member.value.is_null()) {
      merged.erase(member.key);
    } else {
      merged.set(member.key, merge_patch(merged[member.key], member.value));
    }
  }
  return merged;
}

Json changed_by(const Json& patch) {
  Json places = Json::array();
  collect(patch, "", places);
  return places;
}

}  // namespace cairn
