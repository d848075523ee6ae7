#include "engine/sender_scope.h"

#include <algorithm>

#include "base/sha256.h"

namespace cairn {
namespace {

constexpr std::string_view mark_prefix = "sender-";
constexpr std::size_t mark_digits = 24;  // 96 bits: finding a second name with the same mark is infeasible

// A hash, because a name may have characters that a header or a column does not accept.
std::string mark_of(const std::string& sender) {
  return std::string(mark_prefix) + sha256_hex(sender).substr(0, mark_digits);
}

}  // namespace

std::string scoped_id(const Actor& actor, std::string id) {
  if (actor.sender.empty() || id.empty()) return id;
  return mark_of(actor.sender) + ":" + id;
}

std::string_view sender_mark(std::string_view stored) {
  constexpr std::size_t mark_size = mark_prefix.size() + mark_digits;
  if (stored.size() <= mark_size || !stored.starts_with(mark_prefix) || stored[mark_size] != ':') return {};
  const std::string_view digits = stored.substr(mark_prefix.size(), mark_digits);
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return std::all_of(digits.begin(), digits.end(), is_digit) ? stored.substr(0, mark_size) : std::string_view();
}

std::string key_of_id(std::string_view id) { return "id:" + std::string(id); }

std::string_view unscoped_id(std::string_view stored) {
  const std::string_view mark = sender_mark(stored);
  return mark.empty() ? stored : stored.substr(mark.size() + 1);
}

std::string scoped_keys(const Actor& actor, std::string scope) {
  return actor.sender.empty() ? scope : scope + " " + mark_of(actor.sender);
}

}  // namespace cairn
