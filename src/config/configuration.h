// The settings of a server: flags win over variables, variables over the file, the file over defaults.
// Every setting has one name; `tls.key` is the flag --tls-key, the variable CAIRN_TLS_KEY and `key` in the
// file's table [tls]. Any of them can be read from a file of its own, for secrets: CAIRN_STORE_FILE, or
// `store_file` in the file.
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

enum class Kind { text, number, duration, yes_no, list };

struct Spec {
  std::string_view name;
  Kind kind;
  std::string_view standard;  // its value when nobody says anything
  std::string_view help;
  bool secret = false;  // not shown
  // What it takes: `a|b|c` for a text, `LEAST..MOST` for a number or a duration. Empty: anything of its kind.
  std::string_view allowed = {};
};
// In the order in which they are shown.
const std::vector<Spec>& specs();

struct Setting {
  std::string value;
  std::string origin;  // "default", "--listen", "CAIRN_LISTEN", "cairn.toml:3", each maybe "… (file PATH)"
};

struct Sources {
  std::map<std::string, std::string> flags;  // by the setting's name
  // An empty variable counts as one that is not set.
  std::function<std::optional<std::string>(const std::string&)> variable;
  std::vector<std::string> variables = {};  // the names of all that are set
  std::string file;                         // path of the TOML file; empty: none
};

class Configuration {
 public:
  // ErrorCode::invalid says where the wrong value stands, or which name was nearly right; ErrorCode::not_allowed: the
  // file holds secrets, and every user of this machine may read it.
  static Result<Configuration> read(const Sources& sources);

  const Setting& at(std::string_view name) const;
  std::string text(std::string_view name) const { return at(name).value; }
  bool is_set(std::string_view name) const { return !at(name).value.empty(); }
  // These were checked when they were read.
  std::int64_t number(std::string_view name) const;
  Duration duration(std::string_view name) const;
  bool yes(std::string_view name) const;
  std::vector<std::string> list(std::string_view name) const;

  // The file's table [config]: `config` in expressions.
  const Json& values() const { return values_; }
  // The file's table [events] (docs/events.md); null without one.
  const Json& events() const { return events_; }
  // The file's table [secrets]: a name and the file that holds the value, or {file, hosts}. For secret("name").
  const std::map<std::string, std::string>& secrets() const { return secrets_; }
  // Files with secrets (values of `[secrets]`, NAME_file) that every user of this machine may read.
  const std::vector<std::string>& exposed_files() const { return exposed_files_; }
  // Where each of them may be sent; those without an entry anywhere.
  const std::map<std::string, std::vector<std::string>>& secret_hosts() const { return secret_hosts_; }
  // Variables that begin with CAIRN_ and that nothing reads: probably misspelt.
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

std::string flag_of(std::string_view name);      // tls.key → --tls-key
std::string variable_of(std::string_view name);  // tls.key → CAIRN_TLS_KEY
// For showing: passwords in URLs, also those given as ?password=, and secret values are ***.
std::string shown(const Spec& spec, const Setting& setting);

// What a TOML file says, flat: `tls.key` → its text and its line. The tables [config], [events] and [secrets] as
// they are.
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
