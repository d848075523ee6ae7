// What went wrong in an instance, as users and `catch` see it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace cairn {

enum class FailureClass { definition, expression, transport, timeout, authorization, consistency, business };

const char* to_string(FailureClass value);
std::optional<FailureClass> failure_class_from(std::string_view text);

struct Failure {
  FailureClass failure_class = FailureClass::transport;  // if none is given, as in reports over HTTP
  std::string code;
  std::string message;
  Json details;
  int attempt = 1;
  std::string step;  // the id of the step it happened in
  std::string at;    // file:line:col of that step if known, otherwise its place (steps[3].else[0])
  bool operator==(const Failure&) const = default;
};

// {class, code, message, details, attempt, step, at}; `error` in expressions has the first five.
Json to_json(const Failure& failure);
Result<Failure> failure_from_json(const Json& value);

}  // namespace cairn
