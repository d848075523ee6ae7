#include "transport/secrets.h"

#include <algorithm>

#include "base/log.h"
#include "expr/secret_mark.h"
#include "transport/secret_encodings.h"

extern char** environ;

namespace cairn {

namespace {

using expr::mark_begin;
using expr::mark_end;
using expr::mark_kind;
using expr::mark_literal;
constexpr std::string_view variable_begin = "CAIRN_SECRET_";
constexpr std::string_view hosts_end = "_HOSTS";

std::string variable_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    out += letter ? static_cast<char>(c & ~0x20) : digit ? c : '_';
  }
  return out;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(',');
    std::string_view part = text.substr(0, end);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return parts;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

Secrets Secrets::from_environment() {
  Secrets secrets;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view entry(*variable);
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || !entry.starts_with(variable_begin)) continue;
    std::string name(entry.substr(variable_begin.size(), equals - variable_begin.size()));
    const std::string_view value = entry.substr(equals + 1);
    if (name.ends_with(hosts_end)) {
      name.resize(name.size() - hosts_end.size());
      secrets.secrets_[name].hosts = split(value);
    } else if (!name.empty()) {
      secrets.secrets_[name].value = std::string(value);
    }
  }
  return secrets;
}

void Secrets::put(const std::string& name, Secret secret) {
  if (secret.hosts.empty()) {
    if (const auto bound = secrets_.find(variable_name(name)); bound != secrets_.end())
      secret.hosts = bound->second.hosts;
  }
  secrets_[name] = std::move(secret);
}

const Secret* Secrets::find(std::string_view name) const {
  for (const std::string& spelled : {std::string(name), variable_name(name)}) {
    const auto found = secrets_.find(spelled);
    if (found != secrets_.end() && !found->second.value.empty()) return &found->second;
  }
  return nullptr;
}

void Secrets::mask_in_logs() const {
  for (const auto& [name, secret] : secrets_) cairn::mask_in_logs(secret.value);
}

Result<std::string> Unsealing::text(std::string_view sealed) {
  std::string out;
  for (;;) {
    const std::size_t at = sealed.find(mark_begin);
    out += sealed.substr(0, at);
    if (at == std::string_view::npos) return out;
    sealed.remove_prefix(at + mark_begin.size());
    if (sealed.starts_with(mark_literal)) {
      out += mark_begin;
      sealed.remove_prefix(mark_literal.size());
      continue;
    }
    const std::size_t end = sealed.find(mark_end);
    if (!sealed.starts_with(mark_kind) || end == std::string_view::npos) {
      return Error{ErrorCode::invalid, "the request contains a malformed mark for a secret"};
    }
    const std::string name(sealed.substr(mark_kind.size(), end - mark_kind.size()));
    if (!allowed_) {
      return Error{ErrorCode::not_allowed, "secret(\"" + name + "\") is available to calls of workflows only"};
    }
    const Secret* const secret = secrets_.find(name);
    if (secret == nullptr) {
      return Error{ErrorCode::invalid, "secret(\"" + name + "\") is not set; set CAIRN_SECRET_" + variable_name(name)};
    }
    if (used_.emplace(name, secret).second) {
      for (std::string& spelling : spellings_of(secret->value)) spellings_.push_back(std::move(spelling));
      std::sort(spellings_.begin(), spellings_.end(),
                [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
    }
    out += secret->value;
    sealed.remove_prefix(end + mark_end.size());
  }
}

Result<Json> Unsealing::value(const Json& sealed) {
  if (sealed.is_string()) {
    CAIRN_TRY(const std::string open, text(sealed.as_string()));
    return Json(open);
  }
  if (sealed.is_array()) {
    Json::Array items;
    for (const Json& item : sealed.items()) {
      CAIRN_TRY(Json open, value(item));
      items.push_back(std::move(open));
    }
    return Json(std::move(items));
  }
  if (sealed.is_object()) {
    Json::Members members;
    for (const Json::Member& member : sealed.members()) {
      CAIRN_TRY(const std::string key, text(member.key.view()));
      CAIRN_TRY(Json open, value(member.value));
      members.emplace_back(key, std::move(open));
    }
    return Json::object(std::move(members));
  }
  return sealed;
}

Result<void> Unsealing::check_host(std::string_view host) const {
  for (const auto& [name, secret] : used_) {
    const std::vector<std::string>& hosts = secret->hosts;
    if (hosts.empty() || std::find(hosts.begin(), hosts.end(), host) != hosts.end()) continue;
    return Error{ErrorCode::not_allowed, "secret(\"" + name + "\") may not be sent to " + std::string(host)};
  }
  return {};
}

std::string Unsealing::mask(std::string text) const {
  for (const std::string& spelling : spellings_) replace_all(text, spelling, "***");
  return text;
}

Json Unsealing::mask(const Json& value) const {
  if (used_.empty()) return value;
  if (value.is_string()) return Json(mask(std::string(value.as_string())));
  if (value.is_array()) {
    Json::Array items;
    for (const Json& item : value.items()) items.push_back(mask(item));
    return Json(std::move(items));
  }
  if (value.is_object()) {
    Json::Members members;
    for (const Json::Member& member : value.members()) {
      members.emplace_back(mask(std::string(member.key.view())), mask(member.value));
    }
    return Json::object(std::move(members));
  }
  return value;
}

}  // namespace cairn
