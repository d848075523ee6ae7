#include "config/configuration.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <sstream>

#include "base/near.h"

namespace cairn::config {
namespace {

std::string trimmed(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return text;
}

Result<Setting> from_file(const std::string& path, const std::string& origin) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::invalid, origin + ": " + path + " cannot be read"};
  std::ostringstream text;
  text << file.rdbuf();
  return Setting{trimmed(text.str()), origin + " (file " + path + ")"};
}

Result<void> check(const Spec& spec, const Setting& setting) {
  const auto wrong = [&](const std::string& why) {
    return Error{ErrorCode::invalid,
                 setting.origin + ": " + std::string(spec.name) + " takes " + why + ", not \"" + setting.value + "\""};
  };
  if (setting.value.empty()) return {};
  switch (spec.kind) {
    case Kind::text:
    case Kind::list: return {};
    case Kind::number: {
      std::int64_t value = 0;
      const char* const end = setting.value.data() + setting.value.size();
      const auto read = std::from_chars(setting.value.data(), end, value);
      if (read.ec != std::errc() || read.ptr != end || value < 0) return wrong("a whole number");
      return {};
    }
    case Kind::duration:
      if (!parse_duration(setting.value)) return wrong("a length of time such as 30s");
      return {};
    case Kind::yes_no:
      if (setting.value != "yes" && setting.value != "no" && setting.value != "true" && setting.value != "false") {
        return wrong("yes or no");
      }
      return {};
  }
  return {};
}

}  // namespace

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
  if (spec.secret && !setting.value.empty()) return "***";
  // postgres://user:password@host
  const std::size_t scheme = setting.value.find("://");
  if (scheme == std::string::npos) return setting.value;
  const std::size_t at = setting.value.find('@', scheme);
  const std::size_t colon = setting.value.find(':', scheme + 3);
  if (at == std::string::npos || colon == std::string::npos || colon > at) return setting.value;
  return setting.value.substr(0, colon + 1) + "***" + setting.value.substr(at);
}

Result<Configuration> Configuration::read(const Sources& sources) {
  Configuration configuration;
  TomlFile file;
  if (!sources.file.empty()) {
    CAIRN_TRY(file, read_toml(sources.file));
    configuration.values_ = file.config;
    configuration.events_ = file.events;
    for (const Json::Member& secret : file.secrets.members()) {
      const std::string origin = sources.file + ": secrets." + std::string(secret.key);
      if (!secret.value.is_string()) return Error{ErrorCode::invalid, origin + " takes the path of a file"};
      CAIRN_TRY(const Setting read, from_file(std::string(secret.value.as_string()), origin));
      configuration.secrets_[std::string(secret.key)] = read.value;
    }
    std::vector<std::string_view> names;
    for (const Spec& spec : specs()) names.push_back(spec.name);
    for (const auto& [name, value] : file.values) {
      const std::string_view plain =
          name.ends_with("_file") ? std::string_view(name).substr(0, name.size() - 5) : std::string_view(name);
      if (std::find(names.begin(), names.end(), plain) != names.end()) continue;
      const auto near = nearest_name(plain, names);
      return Error{ErrorCode::invalid, sources.file + ":" + std::to_string(value.line) + ": there is no setting \"" +
                                           name + "\"" + (near ? "; did you mean \"" + *near + "\"?" : "")};
    }
  }
  for (const Spec& spec : specs()) {
    const std::string name(spec.name);
    Setting setting{std::string(spec.standard), "default"};
    const auto place = [&](int line) { return sources.file + ":" + std::to_string(line); };
    if (const auto found = file.values.find(name); found != file.values.end()) {
      setting = {found->second.text, place(found->second.line)};
    } else if (const auto path = file.values.find(name + "_file"); path != file.values.end()) {
      CAIRN_TRY(setting, from_file(path->second.text, place(path->second.line)));
    }
    const std::string variable = variable_of(name);
    if (sources.variable) {
      if (const auto value = sources.variable(variable)) {
        setting = {*value, variable};
      } else if (const auto path = sources.variable(variable + "_FILE")) {
        CAIRN_TRY(setting, from_file(*path, variable + "_FILE"));
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
