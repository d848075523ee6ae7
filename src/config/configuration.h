// src/config reads the settings of a server. Flags override environment variables, variables override the file, and the
// file overrides defaults. Every setting has one name: `tls.key` is the flag --tls-key, the variable CAIRN_TLS_KEY and
// `key` in the table [tls] of the file. Every setting can also be read from a separate file, for secrets:
// CAIRN_STORE_FILE, or `store_file` in the configuration file. The module uses only base. Read `Configuration::read`
// first; specs.cc lists all settings.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace cairn::config {

enum class Kind { text, number, duration, period, yes_no, list };  // period: a duration, or `forever`

struct Spec {
  std::string_view name;
  Kind kind;
  std::string_view standard;  // its default value
  std::string_view help;
  bool secret = false;  // never displayed
  // Allowed values: `a|b|c` for a text, `MIN..MAX` for a number or a duration. Empty: every value of its kind.
  std::string_view allowed = {};
};
// In display order.
const std::vector<Spec>& specs();

struct Setting {
  std::string value;
  std::string origin;  // "default", "--listen", "CAIRN_LISTEN", "cairn.toml:3", each maybe with "(file PATH)"
};

struct Sources {
  std::map<std::string, std::string> flags;  // by setting name
  // An empty variable counts as unset.
  std::function<std::optional<std::string>(const std::string&)> variable;
  std::vector<std::string> variables = {};  // the names of all set variables
  std::string file;                         // path of the TOML file; empty: no file
};

class Configuration {
 public:
  // ErrorCode::invalid names the place of the wrong value and suggests the closest setting name. ErrorCode::not_allowed
  // if the file contains secrets and every user of this machine can read it.
  static Result<Configuration> read(const Sources& sources);

  const Setting& at(std::string_view name) const;
  std::string text(std::string_view name) const { return at(name).value; }
  bool is_set(std::string_view name) const { return !at(name).value.empty(); }
  // The values were validated when they were read.
  std::int64_t number(std::string_view name) const;
  Duration duration(std::string_view name) const;
  std::optional<Duration> period(std::string_view name) const;  // empty: for ever
  bool yes(std::string_view name) const;
  std::vector<std::string> list(std::string_view name) const;

  // The table [config] of the file: `config` in expressions.
  const Json& values() const { return values_; }
  // The table [events] of the file (docs/events.md); null if absent.
  const Json& events() const { return events_; }
  // The table [secrets] of the file, for secret("name"): each name with the file that contains the value, or {file,
  // hosts}.
  const std::map<std::string, std::string>& secrets() const { return secrets_; }
  // Files with secrets (values of `[secrets]`, NAME_file) that every user of this machine can read.
  const std::vector<std::string>& exposed_files() const { return exposed_files_; }
  // The hosts that may receive each secret. A secret without an entry may be sent to every host.
  const std::map<std::string, std::vector<std::string>>& secret_hosts() const { return secret_hosts_; }
  // Variables that begin with CAIRN_ and are not read by anything: probably misspelt.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::map<std::string, Setting, std::less<>> settings_;
  Json values_ = Json::object();
  Json events_;
  std::map<std::string, std::string> secrets_;  // their values
  std::map<std::string, std::vector<std::string>> secret_hosts_;
  std::vector<std::string> warnings_;
  std::vector<std::string> exposed_files_;
};

bool is_world_readable(const std::string& path);
bool is_folder(const std::string& path);

std::string flag_of(std::string_view name);      // tls.key → --tls-key
std::string variable_of(std::string_view name);  // tls.key → CAIRN_TLS_KEY
// For display: secret values and passwords in URLs, including ?password=, become ***.
std::string shown(const Spec& spec, const Setting& setting);

// The content of a TOML file, flattened: `tls.key` → its text and its line. The tables [config], [events] and [secrets]
// stay nested.
struct TomlFile {
  struct Value {
    std::string text;
    int line = 0;
  };
  std::map<std::string, Value> values;
  Json config = Json::object();
  Json events;
  Json secrets = Json::object();
};
Result<TomlFile> read_toml(const std::string& path);

}  // namespace cairn::config
