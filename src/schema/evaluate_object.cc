#include <algorithm>

#include "schema/evaluation.h"
#include "schema/messages.h"

namespace cairn::schema {
namespace {

constexpr std::uint64_t match_cost = 8;

using MemberIterator = Json::Members::const_iterator;

// The first member not before `name`: a linear search nearby, then a binary search.
MemberIterator advance_to(MemberIterator at, MemberIterator end, const Text& name) {
  for (int looks = 0; looks < 8; ++looks, ++at) {
    if (at == end || at->key.view() >= name.view()) return at;
  }
  return std::lower_bound(at, end, name.view(),
                          [](const Json::Member& member, std::string_view key) { return member.key.view() < key; });
}

std::string allowed_names(const MemberRules& rules) {
  constexpr std::size_t names_max = 12;
  if (rules.properties.empty() || !rules.patterns.empty()) return "";
  std::string out = " (allowed: ";
  for (std::size_t i = 0; i < rules.properties.size(); ++i) {
    if (i == names_max) return out + ", …)";
    if (i > 0) out += ", ";
    out += quoted(rules.properties[i].first);
  }
  return out + ")";
}

}  // namespace

bool Evaluation::members_hold(const MemberRules& rules, const Json& data, const Path& path, Seen* seen) {
  if (rules.patterns.empty() && rules.additional == no_node) return named_members_hold(rules, data, path, seen);
  const auto& members = data.members();
  auto property = rules.properties.begin();
  bool all = true;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Json::Member& member = members[i];
    const Path below{&path, &member.key, 0};
    property = std::lower_bound(property, rules.properties.end(), member.key.view(),
                                [](const auto& entry, std::string_view key) { return entry.first.view() < key; });
    bool known = false;
    if (property != rules.properties.end() && property->first == member.key) {
      known = true;
      all = fits(property->second, member.value, below, nullptr) && all;
    }
    spend(1 + rules.patterns.size() * (match_cost + member.key.size() / 64));
    if (!gave_up_.empty()) return false;
    for (const auto& [pattern, node] : rules.patterns) {
      if (!compiled_.patterns[pattern].matches(member.key)) continue;
      known = true;
      all = fits(node, member.value, below, nullptr) && all;
    }
    if (!known && rules.additional != no_node) {
      known = true;
      if (compiled_.nodes[rules.additional].never) {
        all = refuse_member(&rules, below, "additionalProperties");
      } else {
        all = fits(rules.additional, member.value, below, nullptr) && all;
      }
    }
    if (known && seen) seen->mark(i);
    if (!all && !collects_more()) return false;
  }
  return all;
}

bool Evaluation::named_members_hold(const MemberRules& rules, const Json& data, const Path& path, Seen* seen) {
  const auto& members = data.members();
  auto member = members.begin();
  bool all = true;
  spend(rules.properties.size());
  for (const auto& [name, node] : rules.properties) {
    member = advance_to(member, members.end(), name);
    if (member == members.end()) break;
    if (member->key != name) continue;
    if (seen) seen->mark(static_cast<std::size_t>(member - members.begin()));
    if (fits(node, member->value, Path{&path, &member->key, 0}, nullptr)) continue;
    all = false;
    if (!collects_more()) break;
  }
  return all;
}

bool Evaluation::names_hold(NodeIndex node, const Json& data, const Path& path) {
  bool all = true;
  spend(data.size());
  for (const Json::Member& member : data.members()) {
    const Json name(member.key);
    const bool fit = [&] {
      const Silence silence(*this);
      return fits(node, name, path, nullptr);
    }();
    if (fit) continue;
    all = false;
    if (report_) explain_name(node, name, path);
    if (!collects_more()) break;
  }
  return all;
}

void Evaluation::explain_name(NodeIndex node, const Json& name, const Path& path) {
  Report* const outer = report_;
  Report inner{1, {}};
  report_ = &inner;
  fits(node, name, path, nullptr);
  report_ = outer;
  std::string message = "has the member " + quoted(name.as_string()) + ", whose name is not allowed";
  if (!inner.found.empty()) message += ": it " + inner.found[0].message;
  refuse(path, "propertyNames", std::move(message));
}

bool Evaluation::unevaluated_members_hold(NodeIndex node, const Json& data, const Path& path, Seen& seen) {
  const auto& members = data.members();
  bool all = true;
  spend(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (seen.has(i)) continue;
    const Path below{&path, &members[i].key, 0};
    const bool fit = compiled_.nodes[node].never ? refuse_member(nullptr, below, "unevaluatedProperties")
                                                 : fits(node, members[i].value, below, nullptr);
    if (fit) continue;
    all = false;
    if (!collects_more()) break;
  }
  seen.mark_all();
  return all;
}

bool Evaluation::refuse_member(const MemberRules* rules, const Path& path, std::string_view keyword) {
  if (!report_) return false;
  return refuse(path, keyword, "is not an allowed member" + (rules ? allowed_names(*rules) : std::string()));
}

}  // namespace cairn::schema
