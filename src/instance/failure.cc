#include "instance/failure.h"

namespace cairn {
namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

// A missing or null member becomes empty text.
bool read_text(const Json& value, std::string& into) {
  if (value.is_null()) return true;
  if (!value.is_string()) return false;
  into = value.as_string();
  return true;
}

}  // namespace

Json to_json(const Failure& failure) {
  return Json::object({{"at", text_or_null(failure.at)},
                       {"attempt", failure.attempt},
                       {"class", to_string(failure.failure_class)},
                       {"code", failure.code},
                       {"details", failure.details},
                       {"message", failure.message},
                       {"step", text_or_null(failure.step)}});
}

Result<Failure> failure_from_json(const Json& value) {
  const Error refused{ErrorCode::corrupt, "this is not an error object: " + write_json(value).substr(0, 200)};
  if (!value.is_object()) return refused;
  Failure failure;
  const auto known_class = failure_class_from(value.text_or("class", ""));
  if (!known_class) return refused;
  failure.failure_class = *known_class;
  failure.details = value["details"];
  const Json& attempt = value["attempt"];
  if (!attempt.is_null()) {
    if (!attempt.is_integer() || attempt.as_integer() < 0 || attempt.as_integer() > 1'000'000'000) return refused;
    failure.attempt = static_cast<int>(attempt.as_integer());
  }
  const bool texts = read_text(value["code"], failure.code) && read_text(value["message"], failure.message) &&
                     read_text(value["step"], failure.step) && read_text(value["at"], failure.at);
  if (!texts) return refused;
  return failure;
}

}  // namespace cairn
