#include "engine/check_input.h"

#include <cmath>
#include <string>

#include "base/json_size.h"
#include "base/limit_refusals.h"
#include "base/storable_text.h"
#include "base/utf8.h"
#include "instance/key_length.h"

namespace cairn {

namespace {

bool is_storable(std::string_view text) { return text.find('\0') == std::string_view::npos && is_utf8(text); }

Error bad_text(std::string_view what) {
  return {ErrorCode::invalid,
          std::string(what) + ": text with U+0000 or that is not UTF-8 cannot be stored (invalid_text)"};
}

Result<void> check(const Json& value, std::string_view what, int depth_left, int depth_max) {
  switch (value.kind()) {
    case Json::Kind::null:
    case Json::Kind::boolean:
    case Json::Kind::integer: return {};
    case Json::Kind::number:
      if (!std::isfinite(value.as_double())) {
        return Error{ErrorCode::invalid, std::string(what) + ": a number that is not finite is no JSON"};
      }
      return {};
    case Json::Kind::string:
      if (!is_storable(value.as_string())) return bad_text(what);
      return {};
    case Json::Kind::array:
    case Json::Kind::object: break;
  }
  if (depth_left == 0) {
    return limit_error("limits.json_depth_max", depth_max, std::string(what) + " is nested too deeply");
  }
  if (value.is_array()) {
    for (const Json& item : value.items()) CAIRN_TRY_VOID(check(item, what, depth_left - 1, depth_max));
    return {};
  }
  for (const Json::Member& member : value.members()) {
    if (!is_storable(member.key)) return bad_text(what);
    CAIRN_TRY_VOID(check(member.value, what, depth_left - 1, depth_max));
  }
  return {};
}

Failure brief(const Failure& failure) {
  constexpr std::size_t text_bytes_max = 2000;
  Failure kept = failure;
  kept.code = storable_text(failure.code, text_bytes_max);
  kept.message = storable_text(failure.message, text_bytes_max);
  kept.details = Json();
  return kept;
}

}  // namespace

Result<void> check_incoming(const Json& value, std::string_view what, const Limits& limits) {
  CAIRN_TRY_VOID(check(value, what, limits.json_depth_max, limits.json_depth_max));
  if (written_beyond(value, limits.body_bytes_max)) {
    return limit_error("http.body_bytes_max", static_cast<std::int64_t>(limits.body_bytes_max),
                       std::string(what) + " is larger than " + std::to_string(limits.body_bytes_max) + " bytes");
  }
  return {};
}

Result<void> check_incoming_key(const Json& key, std::string_view what, const Limits& limits) {
  CAIRN_TRY_VOID(check_incoming(key, what, limits));
  if (key.is_null()) return {};
  if (!key.is_string()) return Error{ErrorCode::invalid, std::string(what) + " is text"};
  if (!is_too_long_a_key(key.as_string())) return {};
  return limit_error("key_length", static_cast<std::int64_t>(key_characters_max),
                     std::string(what) + " is longer than " + std::to_string(key_characters_max) + " characters");
}

Result<void> check_incoming_text(std::string_view text, std::string_view what, const Limits& limits) {
  if (!is_storable(text)) return bad_text(what);
  if (count_code_points(text) > limits.name_length_max) {
    return limit_error("limits.name_length_max", static_cast<std::int64_t>(limits.name_length_max),
                       std::string(what) + " is longer than " + std::to_string(limits.name_length_max) + " characters");
  }
  return {};
}

bool make_storable(Json& result, std::optional<Failure>& failure, const Limits& limits) {
  if (const auto storable = check_incoming(result, "the result", limits); !storable) {
    result = Json();
    failure = Failure{FailureClass::transport, "invalid_result", storable.error().message, Json(), 1, "", ""};
    return false;
  }
  if (failure && !check_incoming(to_json(*failure), "the error", limits)) failure = brief(*failure);
  return true;
}

}  // namespace cairn
