#include "cli/configuration_flags.h"

#include <unistd.h>

#include <cstdlib>
#include <deque>

namespace cairn::cli {
namespace {

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace

std::vector<Flag> configuration_flags() {
  static const auto* const names = [] {
    auto* made = new std::deque<std::string>;  // never freed: the flags refer to these texts
    for (const config::Spec& spec : config::specs()) made->push_back(config::flag_of(spec.name));
    return made;
  }();
  std::vector<Flag> flags{{"--config", "FILE", "TOML file with the settings (default: $CAIRN_CONFIG)"}};
  for (std::size_t i = 0; i < names->size(); ++i) {
    flags.push_back({(*names)[i], "VALUE", config::specs()[i].help});
  }
  return flags;
}

Result<config::Configuration> read_configuration(const Arguments& arguments) {
  config::Sources sources;
  for (const config::Spec& spec : config::specs()) {
    if (const auto value = arguments.value(config::flag_of(spec.name))) sources.flags[std::string(spec.name)] = *value;
  }
  sources.variable = variable;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (text.starts_with("CAIRN_")) sources.variables.emplace_back(text.substr(0, text.find('=')));
  }
  sources.file = arguments.value("--config").value_or(variable("CAIRN_CONFIG").value_or(""));
  return config::Configuration::read(sources);
}

}  // namespace cairn::cli
