#include "config/configuration.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <sstream>

#include "base/ascii.h"
#include "base/suggest.h"

namespace cairn::config {
namespace {

constexpr std::string_view forever = "forever";

// Whether the value of this parameter holds a password: ?password=…, or the encoded URL of a Redis server with a login.
bool is_secret_parameter(std::string_view name, std::string_view value) {
  if (name.ends_with("password")) return true;
  return name.ends_with("hints") &&
         (value.find('@') != std::string_view::npos || value.find("%40") != std::string_view::npos);
}

// Removes the passwords of postgres://user:password@host?password=…; other texts stay unchanged.
std::string shown_url(std::string text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string::npos) return text;
  // A Redis URL has no query, and its password may contain any character (src/redis).
  const bool redis = text.starts_with("redis://");
  for (std::size_t at = redis ? std::string::npos : text.find('?', scheme); at != std::string::npos;
       at = text.find('&', at + 1)) {
    const std::size_t equals = text.find('=', at);
    if (equals == std::string::npos) break;
    const std::size_t end = std::min(text.find('&', equals), text.size());
    const std::string_view all(text);
    if (!is_secret_parameter(all.substr(at + 1, equals - at - 1), all.substr(equals + 1, end - equals - 1))) continue;
    text.replace(equals + 1, end - equals - 1, "***");
  }
  const std::size_t end = redis ? text.size() : std::min(text.find_first_of("/?", scheme + 3), text.size());
  const std::size_t at = text.rfind('@', end);
  const std::size_t colon = text.find(':', scheme + 3);
  if (at == std::string::npos || at < scheme || colon == std::string::npos || colon > at) return text;
  return text.substr(0, colon + 1) + "***" + text.substr(at);
}

std::string trimmed(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return text;
}

// Adds the path to `exposed` if every user can read it: values in separate files are secrets.
Result<Setting> from_file(const std::string& path, const std::string& origin, std::vector<std::string>& exposed) {
  if (is_world_readable(path)) exposed.push_back(path);
  std::ifstream file(path, std::ios::binary);
  if (!file || is_folder(path)) return Error{ErrorCode::invalid, origin + ": " + path + " cannot be read as a file"};
  std::ostringstream text;
  text << file.rdbuf();
  return Setting{trimmed(text.str()), origin + " (file " + path + ")"};
}

// Reads `hosts` of a secret: a list of at least one name.
Result<std::vector<std::string>> hosts_of(const Json& secret, const std::string& origin) {
  std::vector<std::string> hosts;
  for (const Json::Member& member : secret.members()) {
    if (member.key != "file" && member.key != "hosts") {
      return Error{ErrorCode::invalid, origin + " accepts file and hosts, not \"" + std::string(member.key) + "\""};
    }
  }
  const Json& list = secret["hosts"];
  if (list.is_array()) {
    for (const Json& host : list.items()) {
      if (host.is_string() && !host.as_string().empty()) hosts.emplace_back(host.as_string());
    }
  }
  if (hosts.empty() || hosts.size() != list.size()) {
    return Error{ErrorCode::invalid, origin + ".hosts must be a list of host names"};
  }
  return hosts;
}

// Headers of a sink authenticate the server to the receiver, whatever their names; these do not.
bool is_plain_header(std::string_view name) {
  const std::string lower = ascii_lower(name);
  return lower == "content-type" || lower == "accept" || lower == "user-agent";
}

std::string secret_in_headers(const Json& headers, const std::string& where) {
  if (!headers.is_object()) return {};
  for (const Json::Member& header : headers.members()) {
    if (!is_plain_header(header.key)) return where + "." + std::string(header.key);
  }
  return {};
}

// The first secret that the file contains itself, instead of naming a file; empty if none.
std::string secret_in(const Json& value, const std::string& where) {
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (auto found = secret_in(value.items()[i], where); !found.empty()) return found;
    }
  } else if (value.is_object()) {
    for (const Json::Member& member : value.members()) {
      const std::string name = where + "." + std::string(member.key);
      const bool secret = member.key == "secret" || member.key == "old_secret" || member.key == "password";
      if (secret && member.value.is_string()) return name;
      if (member.key == "headers") {
        if (auto found = secret_in_headers(member.value, name); !found.empty()) return found;
      }
      if (auto found = secret_in(member.value, name); !found.empty()) return found;
    }
  } else if (value.is_string() && shown_url(std::string(value.as_string())) != value.as_string()) {
    return where;
  }
  return {};
}

std::string secret_in(const TomlFile& file) {
  if (auto found = secret_in(file.events, "events"); !found.empty()) return found;
  for (const Spec& spec : specs()) {
    const auto found = file.values.find(std::string(spec.name));
    if (found == file.values.end() || found->second.text.empty()) continue;
    if (spec.name == "hooks") {
      const auto hooks = parse_json(found->second.text);
      if (auto name = hooks ? secret_in(*hooks, "hooks") : std::string(); !name.empty()) return name;
    } else if (spec.secret || shown_url(found->second.text) != found->second.text) {
      return std::string(spec.name);
    }
  }
  return {};
}

Result<void> check_readers(const std::string& path, const TomlFile& file) {
  if (!is_world_readable(path)) return {};
  const std::string secret = secret_in(file);
  if (secret.empty()) return {};
  return Error{ErrorCode::not_allowed, path + " contains a secret (" + secret +
                                           ") and every user of this machine can read it: run chmod o-r " + path +
                                           ", or move the secret to a separate file"};
}

std::optional<std::int64_t> number_in(const std::string& text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

// The lower or upper end of a range.
std::string range_end(const Spec& spec, int which) {
  const std::size_t dots = spec.allowed.find("..");
  if (dots == std::string_view::npos) return {};
  return std::string(which == 0 ? spec.allowed.substr(0, dots) : spec.allowed.substr(dots + 2));
}

bool is_one_of(std::string_view value, std::string_view choices) {
  for (std::size_t begin = 0; begin <= choices.size();) {
    const std::size_t end = std::min(choices.find('|', begin), choices.size());
    if (choices.substr(begin, end - begin) == value) return true;
    begin = end + 1;
  }
  return false;
}

// Variables read by other parts of the program or by tests, or set by an orchestrator for a service of that name.
bool is_read_elsewhere(std::string_view variable) {
  static constexpr std::string_view names[] = {"CAIRN_CONFIG", "CAIRN_SERVER", "CAIRN_TOKEN",
                                               "CAIRN_USER",   "CAIRN_SEED",   "CAIRN_SEEDS"};
  static constexpr std::string_view beginnings[] = {"CAIRN_SECRET_", "CAIRN_TEST_", "CAIRN_SERVICE_", "CAIRN_PORT"};
  return std::find(std::begin(names), std::end(names), variable) != std::end(names) ||
         std::any_of(std::begin(beginnings), std::end(beginnings),
                     [variable](std::string_view begin) { return variable.starts_with(begin); });
}

std::vector<std::string> unread(const std::vector<std::string>& variables) {
  std::vector<std::string> known;
  for (const Spec& spec : specs()) known.push_back(variable_of(spec.name));
  const std::vector<std::string_view> names(known.begin(), known.end());
  std::vector<std::string> warnings;
  for (const std::string& variable : variables) {
    if (!variable.starts_with("CAIRN_") || is_read_elsewhere(variable)) continue;
    const std::string plain = variable.ends_with("_FILE") ? variable.substr(0, variable.size() - 5) : variable;
    const auto is = [&known](const std::string& name) {
      return std::find(known.begin(), known.end(), name) != known.end();
    };
    if (is(variable) || is(plain)) continue;
    const auto near = nearest_name(plain, names);
    warnings.push_back(variable + " is not a setting" + (near ? "; did you mean " + *near + "?" : ""));
  }
  return warnings;
}

Result<void> check(const Spec& spec, const Setting& setting) {
  const auto wrong = [&](const std::string& why) {
    return Error{ErrorCode::invalid,
                 setting.origin + ": " + std::string(spec.name) + " takes " + why + ", not \"" + setting.value + "\""};
  };
  const std::string least = range_end(spec, 0);
  const std::string most = range_end(spec, 1);
  const std::string range = spec.allowed.empty() ? "" : " from " + least + " to " + most;
  // A text may be empty, and so may every setting with an empty default.
  if (setting.value.empty() && (spec.kind == Kind::text || spec.kind == Kind::list || spec.standard.empty())) return {};
  switch (spec.kind) {
    case Kind::text:
      if (spec.allowed.empty() || is_one_of(setting.value, spec.allowed)) return {};
      return wrong("one of " + std::string(spec.allowed));
    case Kind::list: return {};
    case Kind::number: {
      const auto value = number_in(setting.value);
      if (!value || *value < 0) return wrong("a whole number" + range);
      if (!range.empty() && (*value < number_in(least) || *value > number_in(most))) {
        return wrong("a whole number" + range);
      }
      return {};
    }
    case Kind::period:
      if (setting.value == forever || setting.value.empty()) return {};
      [[fallthrough]];
    case Kind::duration: {
      const auto value = parse_duration(setting.value);
      const std::string or_forever = spec.kind == Kind::period ? ", or forever" : "";
      if (!value)
        return wrong((spec.kind == Kind::period ? "a duration such as 30d" : "a duration such as 30s") + or_forever);
      if (!range.empty() && (*value < *parse_duration(least) || *parse_duration(most) < *value)) {
        return wrong("a duration" + range + or_forever);
      }
      return {};
    }
    case Kind::yes_no:
      if (setting.value != "yes" && setting.value != "no" && setting.value != "true" && setting.value != "false") {
        return wrong("yes or no");
      }
      return {};
  }
  return {};
}

}  // namespace

bool is_world_readable(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && (status.st_mode & S_IROTH) != 0;
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string flag_of(std::string_view name) {
  std::string flag = "--" + std::string(name);
  std::replace_if(
      flag.begin(), flag.end(), [](char c) { return c == '.' || c == '_'; }, '-');
  return flag;
}

std::string variable_of(std::string_view name) {
  std::string variable = "CAIRN_" + std::string(name);
  for (char& c : variable) c = c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return variable;
}

std::string shown(const Spec& spec, const Setting& setting) {
  return spec.secret && !setting.value.empty() ? "***" : shown_url(setting.value);
}

Result<Configuration> Configuration::read(const Sources& sources) {
  Configuration configuration;
  configuration.warnings_ = unread(sources.variables);
  TomlFile file;
  if (!sources.file.empty()) {
    CAIRN_TRY(file, read_toml(sources.file));
    configuration.values_ = file.config;
    configuration.events_ = file.events;
    CAIRN_TRY_VOID(check_readers(sources.file, file));
    for (const Json::Member& secret : file.secrets.members()) {
      const std::string name(secret.key);
      const std::string origin = sources.file + ": secrets." + name;
      const bool table = secret.value.is_object();
      const Json& path = table ? secret.value["file"] : secret.value;
      if (!path.is_string()) return Error{ErrorCode::invalid, origin + " must be a file path, or {file, hosts}"};
      CAIRN_TRY(const Setting read, from_file(std::string(path.as_string()), origin, configuration.exposed_files_));
      configuration.secrets_[name] = read.value;
      if (!table) continue;
      CAIRN_TRY(configuration.secret_hosts_[name], hosts_of(secret.value, origin));
    }
    std::vector<std::string_view> names;
    for (const Spec& spec : specs()) names.push_back(spec.name);
    for (const auto& [name, value] : file.values) {
      const std::string_view plain =
          name.ends_with("_file") ? std::string_view(name).substr(0, name.size() - 5) : std::string_view(name);
      const auto is = [&names](std::string_view one) {
        return std::find(names.begin(), names.end(), one) != names.end();
      };
      if (is(name) || is(plain)) continue;
      const auto near = nearest_name(plain, names);
      return Error{ErrorCode::invalid, sources.file + ":" + std::to_string(value.line) + ": unknown setting \"" + name +
                                           "\"" + (near ? "; did you mean \"" + *near + "\"?" : "")};
    }
  }
  for (const Spec& spec : specs()) {
    const std::string name(spec.name);
    Setting setting{std::string(spec.standard), "default"};
    const auto place = [&](int line) { return sources.file + ":" + std::to_string(line); };
    if (const auto found = file.values.find(name); found != file.values.end()) {
      setting = {found->second.text, place(found->second.line)};
    } else if (const auto path = file.values.find(name + "_file"); path != file.values.end()) {
      CAIRN_TRY(setting, from_file(path->second.text, place(path->second.line), configuration.exposed_files_));
    }
    const std::string variable = variable_of(name);
    if (sources.variable) {
      if (const auto value = sources.variable(variable); value && !value->empty()) {
        setting = {*value, variable};
      } else if (const auto path = sources.variable(variable + "_FILE"); path && !path->empty()) {
        CAIRN_TRY(setting, from_file(*path, variable + "_FILE", configuration.exposed_files_));
      }
    }
    if (const auto flag = sources.flags.find(name); flag != sources.flags.end()) {
      setting = {flag->second, flag_of(name)};
    }
    CAIRN_TRY_VOID(check(spec, setting));
    configuration.settings_.emplace(name, std::move(setting));
  }
  return configuration;
}

const Setting& Configuration::at(std::string_view name) const {
  const auto found = settings_.find(name);
  CAIRN_ASSERT(found != settings_.end());
  return found->second;
}

std::int64_t Configuration::number(std::string_view name) const {
  const std::string& value = at(name).value;
  std::int64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

std::optional<Duration> Configuration::period(std::string_view name) const {
  const std::string& value = at(name).value;
  return value == forever || value.empty() ? std::nullopt : std::optional(duration(name));
}

Duration Configuration::duration(std::string_view name) const {
  return parse_duration(at(name).value).value_or(Duration());
}

bool Configuration::yes(std::string_view name) const {
  const std::string& value = at(name).value;
  return value == "yes" || value == "true";
}

std::vector<std::string> Configuration::list(std::string_view name) const {
  std::vector<std::string> items;
  std::istringstream text(at(name).value);
  for (std::string item; std::getline(text, item, ',');) {
    while (!item.empty() && item.front() == ' ') item.erase(0, 1);
    item = trimmed(item);
    if (!item.empty()) items.push_back(item);
  }
  return items;
}

}  // namespace cairn::config
