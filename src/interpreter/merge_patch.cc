#include "interpreter/merge_patch.h"

#include <string>

#include "base/sha256.h"

namespace cairn {
namespace {

constexpr std::size_t named_max = 50;
constexpr std::size_t value_bytes_max = 4096;

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
void collect(const Json* before, const Json& patch, const std::string& place, Json& into, std::int64_t& more) {
  if (patch.is_object() && !patch.members().empty()) {
    for (const Json::Member& member : patch.members()) {
      const Json* inner = before != nullptr && before->is_object() ? before->find(member.key) : nullptr;
      collect(inner, member.value, place + "/" + escaped(member.key), into, more);
    }
    return;
  }
  if (into.size() >= named_max) {
    ++more;
    return;
  }
  Json change = Json::object({{"path", place}});
  if (before != nullptr) put_value(change, "old", *before);
  if (!patch.is_null()) put_value(change, "new", patch);
  into.push_back(std::move(change));
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

void put_value(Json& change, const std::string& name, const Json& value) {
  std::string text = write_json(value);
  if (text.size() <= value_bytes_max) {
    change.set(name, value);
    return;
  }
  change.set(name + "_bytes", static_cast<std::int64_t>(text.size()));
  change.set(name + "_sha256", sha256_hex(text));
}

Json changed_by(const Json& target, const Json& patch) {
  Json changes = Json::array();
  std::int64_t more = 0;
  collect(&target, patch, "", changes, more);
  if (more > 0) changes.push_back(Json::object({{"more", more}}));
  return changes;
}

}  // namespace cairn
