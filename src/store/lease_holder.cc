#include "store/lease_holder.h"

#include <array>

#include "base/entropy.h"

namespace cairn {
namespace {

constexpr std::string_view marks = "%[] ";
constexpr std::string_view codes[] = {"%25", "%5B", "%5D", "%20"};

std::string encoded(std::string_view part) {
  std::string text;
  text.reserve(part.size());
  for (const char c : part) {
    const std::size_t mark = marks.find(c);
    if (mark == std::string_view::npos) {
      text.push_back(c);
    } else {
      text.append(codes[mark]);
    }
  }
  return text;
}

std::string decoded(std::string_view part) {
  std::string text;
  text.reserve(part.size());
  while (!part.empty()) {
    std::size_t mark = 0;
    while (mark < marks.size() && !part.starts_with(codes[mark])) ++mark;
    text.push_back(mark < marks.size() ? marks[mark] : part.front());
    part.remove_prefix(mark < marks.size() ? codes[mark].size() : 1);
  }
  return text;
}

}  // namespace

std::string LeaseHolder::text() const {
  if (account.empty()) return label;
  return label + (label.empty() ? "[" : " [") + encoded(person) + " " + encoded(account) + "]";
}

LeaseHolder LeaseHolder::parse(std::string_view stored) {
  const std::size_t open = stored.rfind('[');
  const std::size_t between = stored.rfind(' ');
  const bool bracketed = stored.ends_with(']') && open != std::string_view::npos && between != std::string_view::npos &&
                         between > open && (open == 0 || stored[open - 1] == ' ');
  if (!bracketed) return {std::string(stored)};
  LeaseHolder holder;
  holder.label = stored.substr(0, open == 0 ? 0 : open - 1);
  holder.person = decoded(stored.substr(open + 1, between - open - 1));
  holder.account = decoded(stored.substr(between + 1, stored.size() - between - 2));
  return holder;
}

bool holds_lease(std::string_view leased_by, std::string_view account) {
  return account.empty() || LeaseHolder::parse(leased_by).account == account;
}

std::uint64_t fence_step() {
  std::array<std::uint8_t, 4> bytes{};
  fill_random(bytes);
  std::uint64_t random = 0;
  for (const std::uint8_t byte : bytes) random = random << 8 | byte;
  return random + 1;
}

}  // namespace cairn
