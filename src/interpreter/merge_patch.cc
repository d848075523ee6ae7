#include "interpreter/merge_patch.h"

namespace cairn {

// Recursion ends with the depth of the patch, which the reader of JSON has bounded.
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

}  // namespace cairn
