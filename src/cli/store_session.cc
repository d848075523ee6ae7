#include "cli/store_session.h"

#include <cstdlib>

#include "cli/exit_code.h"
#include "schedule/schedules.h"

namespace cairn::cli {

int fail(std::string_view command, const Error& error, std::ostream& err) {
  err << "cairn " << command << ": " << error.message << "\n";
  return exit_code_of(error.code);
}

int wrong_call(std::string_view command, const std::string& message, std::ostream& err) {
  err << "cairn " << command << ": " << message << "\nRun `cairn " << command << " --help` for the usage.\n";
  return exit_usage;
}

std::variant<std::unique_ptr<StoreSession>, int> StoreSession::open(std::string_view command,
                                                                    const Arguments& arguments, Use use,
                                                                    std::ostream& err) {
  std::string url = arguments.value("--store").value_or("");
  if (url.empty()) {
    if (const char* given = std::getenv("CAIRN_STORE")) url = given;
  }
  if (url.empty()) return wrong_call(command, "no store is given; use --store sqlite:PATH or set CAIRN_STORE", err);
  auto session = std::make_unique<StoreSession>();
  auto opened = open_store(url, session->clock_, use == Use::read ? StoreMode::read_only : StoreMode::own);
  if (!opened) return fail(command, opened.error(), err);
  session->store_ = std::move(*opened);
  if (use == Use::change) {
    CoreOptions options;
    options.node = "cli";
    options.strict_definitions = false;
    auto core = EngineCore::open(*session->store_, options);
    if (!core) return fail(command, core.error(), err);
    session->core_ = std::move(*core);
    attach_schedules(*session->core_);
  }
  return session;
}

std::string ago(Timestamp then, Timestamp now) {
  const std::int64_t seconds = std::max<std::int64_t>(0, between(then, now).seconds);
  if (seconds < 60) return std::to_string(seconds) + "s";
  if (seconds < 3600) return std::to_string(seconds / 60) + "m";
  if (seconds < 86'400) return std::to_string(seconds / 3600) + "h";
  return std::to_string(seconds / 86'400) + "d";
}

}  // namespace cairn::cli
