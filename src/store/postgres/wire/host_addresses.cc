#include "store/postgres/wire/host_addresses.h"

#include <libpq-fe.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

#include "base/name_lookup.h"

namespace cairn::postgres {

namespace {

// For a connection whose own timeout is switched off.
constexpr std::chrono::seconds lookup_max{30};

std::vector<std::string> parts(const std::string& list) {
  std::vector<std::string> all;
  for (std::size_t at = 0;;) {
    const std::size_t comma = list.find(',', at);
    all.push_back(list.substr(at, comma - at));
    if (comma == std::string::npos) return all;
    at = comma + 1;
  }
}

void add(std::string& list, bool first, const std::string& part) { list += (first ? "" : ",") + part; }

// A path, an abstract socket, or an IPv6 address with or without a zone.
bool is_name(const std::string& host) {
  return !host.empty() && host[0] != '/' && host[0] != '@' && host.find(':') == std::string::npos;
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

std::map<std::string, std::string> read_options(const std::string& conninfo) {
  std::map<std::string, std::string> given;
  const std::unique_ptr<PQconninfoOption, FreeOptions> options(PQconninfoParse(conninfo.c_str(), nullptr));
  for (const PQconninfoOption* one = options.get(); one != nullptr && one->keyword != nullptr; ++one) {
    if (one->val != nullptr) given[one->keyword] = one->val;
  }
  return given;
}

std::chrono::milliseconds timeout_of(const std::string& seconds) {
  int value = 0;
  std::from_chars(seconds.data(), seconds.data() + seconds.size(), value);
  return value > 0 ? std::chrono::seconds(std::min<std::int64_t>(value, lookup_max.count())) : lookup_max;
}

}  // namespace

Result<Hosts> with_addresses(const Hosts& given, const Lookup& lookup) {
  const std::vector<std::string> hosts = parts(given.host), ports = parts(given.port);
  Hosts found;
  std::optional<Error> failed;
  bool first = true;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    std::vector<std::string> addresses{""};
    if (is_name(hosts[i])) {
      auto looked_up = lookup(hosts[i]);
      if (!looked_up) {
        failed = looked_up.error();
        continue;
      }
      addresses = std::move(*looked_up);
    }
    for (const std::string& address : addresses) {
      add(found.host, first, hosts[i]);
      add(found.hostaddr, first, address);
      if (ports.size() == hosts.size()) add(found.port, first, ports[i]);
      first = false;
    }
  }
  if (first && failed) return *failed;
  if (ports.size() != hosts.size()) found.port = given.port;
  return found;
}

Result<pg_conn*> connect(const std::string& conninfo) {
  std::map<std::string, std::string> options = read_options(conninfo);
  const auto option = [&](const char* name, const char* variable) {
    const auto given = options.find(name);
    return given != options.end() ? given->second : environment(variable);
  };
  const std::string host = option("host", "PGHOST");
  // A service file may name other hosts. libpq reports an error in the parameters.
  if (options.empty() || host.empty() || !option("hostaddr", "PGHOSTADDR").empty() ||
      !option("service", "PGSERVICE").empty()) {
    return PQconnectdb(conninfo.c_str());
  }
  const auto timeout = timeout_of(option("connect_timeout", "PGCONNECT_TIMEOUT"));
  CAIRN_TRY(const Hosts hosts, with_addresses({host, "", option("port", "PGPORT")},
                                              [&](const std::string& name) { return find_addresses(name, timeout); }));
  options["host"] = hosts.host;
  options["hostaddr"] = hosts.hostaddr;
  options["port"] = hosts.port;
  std::vector<const char*> keywords, values;
  for (const auto& [keyword, value] : options) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  return PQconnectdbParams(keywords.data(), values.data(), 0);
}

}  // namespace cairn::postgres
