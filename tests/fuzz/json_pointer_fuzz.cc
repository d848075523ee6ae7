// A pointer (RFC 6901) on the first line, JSON after it: the value found is the one that a plain walk over the tokens
// finds, and each escaped token finds its member.
#include <optional>

#include "base/json.h"
#include "input.h"

namespace {

std::optional<std::string> unescaped(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      out += token[i];
      continue;
    }
    if (++i == token.size() || (token[i] != '0' && token[i] != '1')) return std::nullopt;
    out += token[i] == '0' ? '~' : '/';
  }
  return out;
}

const cairn::Json* walk(const cairn::Json* at, std::string_view pointer) {
  while (at != nullptr && !pointer.empty()) {
    if (pointer.front() != '/') return nullptr;
    pointer.remove_prefix(1);
    const std::string_view token = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(token.size());
    const auto name = unescaped(token);
    if (!name) return nullptr;
    if (at->is_array()) {
      const cairn::Json* found = nullptr;
      for (std::size_t i = 0; i < at->size(); ++i) {
        if (*name == std::to_string(i)) found = &at->items()[i];
      }
      at = found;
    } else {
      at = at->find(*name);
    }
  }
  return at;
}

}  // namespace

void fuzz(std::string_view input) {
  const std::string_view pointer = cairn::fuzzing::take_line(input);
  CAIRN_ASSERT(unescaped(cairn::escape_pointer(pointer)) == pointer);
  const auto json = cairn::parse_json(input);
  if (!json) return;
  CAIRN_ASSERT(cairn::find_pointer(*json, pointer) == walk(&*json, pointer));
  if (!json->is_object()) return;
  for (const cairn::Json::Member& member : json->members()) {
    CAIRN_ASSERT(cairn::find_pointer(*json, "/" + cairn::escape_pointer(member.key.view())) == &member.value);
  }
}
