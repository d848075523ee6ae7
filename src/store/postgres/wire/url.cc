#include "store/postgres/wire/url.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include "redis/connection.h"

namespace cairn::postgres {

namespace {

// Defaults for libpq unless the URL sets them. The kernel detects a vanished peer in seconds; libpq itself would wait
// forever.
constexpr std::pair<const char*, const char*> defaults[] = {
    {"connect_timeout", "5"},      {"keepalives_idle", "5"},      {"keepalives_interval", "2"},
    {"keepalives_count", "3"},     {"tcp_user_timeout", "15000"}, {"target_session_attrs", "read-write"},
    {"application_name", "cairn"}, {"client_encoding", "UTF8"},
};

Result<std::size_t> read_count(const std::string& name, const std::string& text, std::size_t most) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > most) {
    return Error{ErrorCode::invalid, "the store URL's " + name + " is a number from 1 to " + std::to_string(most)};
  }
  return value;
}

bool is_plain_name(const std::string& name) {
  if (name.empty() || name.size() > 50 || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

// %3A becomes ':'. Invalid escapes stay unchanged.
std::string decoded(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const bool code = text[i] == '%' && i + 2 < text.size() &&
                      std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr == text.data() + i + 3;
    out += code ? static_cast<char>(value) : text[i];
    if (code) i += 2;
  }
  return out;
}

std::string without_password(const std::string& url) {
  const auto begin = url.find("//");
  if (begin == std::string::npos) return url;
  const auto at = url.rfind('@', std::min(url.find('/', begin + 2), url.size()));
  if (at == std::string::npos || at < begin) return url;
  const auto colon = url.find(':', begin + 2);
  if (colon == std::string::npos || colon > at) return url;
  return url.substr(0, colon) + ":***" + url.substr(at);
}

}  // namespace

bool is_postgres_url(const std::string& url) {
  return url.starts_with("postgres://") || url.starts_with("postgresql://");
}

Result<Target> read_url(const std::string& url) {
  Target target;
  const auto mark = url.find('?');
  std::string base = url.substr(0, mark);
  if (base.starts_with("postgres://")) base.replace(0, 11, "postgresql://");
  std::vector<std::string> kept;
  std::string rest = mark == std::string::npos ? "" : url.substr(mark + 1);
  while (!rest.empty()) {
    const auto end = rest.find('&');
    const std::string part = rest.substr(0, end);
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
    const auto equals = part.find('=');
    const std::string name = part.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
    if (name == "schema") {
      if (!is_plain_name(value)) {
        return Error{ErrorCode::invalid, "the store URL's schema '" + value +
                                             "' is not a plain name: small letters, digits and _, at most 50"};
      }
      target.schema = value;
    } else if (name == "connections") {
      CAIRN_TRY(target.connections, read_count(name, value, 1000));
    } else if (name == "writers") {
      CAIRN_TRY(target.writers, read_count(name, value, 16));
    } else if (name == "run_events") {
      if (value != "on" && value != "off") {
        return Error{ErrorCode::invalid, "the store URL's run_events is on or off"};
      }
      target.run_events = value == "on";
    } else if (name == "hints") {
      target.hints = decoded(value);
      CAIRN_TRY_VOID(redis::check_url(target.hints));
    } else if (name == "clock") {
      if (value != "server" && value != "process") {
        return Error{ErrorCode::invalid, "the store URL's clock is server or process"};
      }
      target.process_clock = value == "process";
    } else if (!part.empty()) {
      kept.push_back(part);
    }
  }
  if (target.connections <= target.writers) target.connections = target.writers + 1;
  for (const auto& [name, value] : defaults) {
    const std::string prefix = std::string(name) + "=";
    if (std::none_of(kept.begin(), kept.end(), [&](const std::string& part) { return part.starts_with(prefix); })) {
      kept.push_back(prefix + value);
    }
  }
  target.conninfo = base;
  for (std::size_t i = 0; i < kept.size(); ++i) target.conninfo += (i == 0 ? "?" : "&") + kept[i];
  target.shown = without_password(base) + "?schema=" + target.schema;
  return target;
}

}  // namespace cairn::postgres
