#include "cli/commands.h"

#include <iomanip>

#include "cli/configuration_flags.h"
#include "cli/exit_code.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& config_spec() {
  static const CommandSpec spec = [] {
    std::vector<Flag> flags = configuration_flags();
    flags.push_back(json_flag);
    return CommandSpec{"config",
                       "show [--config FILE] [--SETTING VALUE…] [--json]",
                       "Show every setting of a server and where its value comes from",
                       "Flags override variables, variables override the file, and the file overrides defaults.\n"
                       "Passwords are masked.",
                       flags,
                       {"cairn config show --config cairn.toml"}};
  }();
  return spec;
}

int run_config(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(config_spec(), args, arguments, out, err)) return *over;
  if (arguments.positional() != std::vector<std::string>{"show"}) {
    return wrong_call("config", "use `cairn config show`", err);
  }
  const auto configuration = read_configuration(arguments);
  if (!configuration) return fail("config", configuration.error(), err);
  for (const std::string& warning : configuration->warnings()) err << "cairn config: " << warning << "\n";
  if (arguments.has("--json")) {
    Json json = Json::object();
    for (const config::Spec& spec : config::specs()) {
      const config::Setting& setting = configuration->at(spec.name);
      json.set(spec.name, Json::object({{"value", config::shown(spec, setting)}, {"origin", setting.origin}}));
    }
    out << write_json(json) << "\n";
    return exit_done;
  }
  for (const config::Spec& spec : config::specs()) {
    const config::Setting& setting = configuration->at(spec.name);
    out << std::left << std::setw(34) << spec.name << std::setw(30) << config::shown(spec, setting) << "  "
        << setting.origin << "\n";
  }
  return exit_done;
}

}  // namespace cairn::cli
