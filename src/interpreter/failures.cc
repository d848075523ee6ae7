#include "interpreter/failures.h"

#include <algorithm>

namespace cairn {
namespace {

// At most 200 bytes, whole characters only.
std::string_view beginning(std::string_view text) {
  std::size_t length = std::min<std::size_t>(text.size(), 200);
  while (length < text.size() && length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  return text.substr(0, length);
}

}  // namespace

std::string place_of(const Program& program, const Step* step) {
  if (!step) return program.file.empty() ? "" : program.file + ":1:1";
  if (program.file.empty() || step->at.line == 0) return step->path;
  return program.file + ":" + std::to_string(step->at.line) + ":" + std::to_string(step->at.column);
}

Failure make_failure(const Program& program, const Step* step, FailureClass failure_class, std::string code,
                     std::string message, Json details) {
  return {.failure_class = failure_class,
          .code = std::move(code),
          .message = std::move(message),
          .details = std::move(details),
          .attempt = 1,
          .step = step ? step->id : "",
          .at = place_of(program, step)};
}

Failure expression_failure(const Program& program, const Step* step, const expr::Fault& fault, std::string_view what,
                           std::string_view text) {
  std::string message(what);
  if (!text.empty()) {
    const std::string_view shown = beginning(text);
    message += " `";
    message += shown;
    message += shown.size() < text.size() ? "…`" : "`";
  }
  message += ": " + fault.message;
  if (step) message += " (" + step->path + ")";
  return make_failure(program, step, FailureClass::expression, fault.code, std::move(message));
}

Json error_in_scope(const Failure& failure) {
  return Json::object({{"attempt", failure.attempt},
                       {"class", to_string(failure.failure_class)},
                       {"code", failure.code},
                       {"details", failure.details},
                       {"message", failure.message}});
}

bool is_uncatchable(const Failure& failure) {
  return failure.failure_class == FailureClass::definition &&
         (failure.code == "limit_steps" || failure.code == "limit_strands");
}

}  // namespace cairn
