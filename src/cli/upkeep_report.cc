#include "cli/upkeep_report.h"

#include <cstdlib>

#include "cli/store_session.h"

namespace cairn::cli {

std::variant<Json, int> upkeep_report(std::string_view command, const std::string& path,
                                      const std::function<Result<Json>(Store&)>& read, const Arguments& arguments,
                                      std::ostream& err) {
  const char* const server = std::getenv("CAIRN_SERVER");
  const bool remote = arguments.value("--server") || (!arguments.value("--store") && server != nullptr && *server != 0);
  const bool nowhere = !remote && !arguments.value("--store") && std::getenv("CAIRN_STORE") == nullptr;
  if (remote || nowhere) {
    auto opened = ApiSession::open(command, arguments, ApiSession::Use::read, err);
    if (const int* code = std::get_if<int>(&opened)) return *code;
    auto answer = std::get<0>(opened)->ask({"GET", path}, err);
    if (const int* code = std::get_if<int>(&answer)) return *code;
    return std::move(std::get<0>(answer).body);
  }
  auto opened = StoreSession::open(command, arguments, StoreSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  auto report = read(std::get<0>(opened)->store());
  if (!report) return fail(command, report.error(), err);
  return std::move(*report);
}

}  // namespace cairn::cli
