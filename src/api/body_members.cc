#include "api/body_members.h"

namespace cairn::api {

Error wrong_member(const std::string& pointer, Error error) {
  error.places = {{pointer, error.message}};
  return with_context(std::move(error), pointer.substr(pointer.rfind('/') + 1));
}

Error error_below(const std::string& pointer, Error error) {
  for (ErrorPlace& place : error.places) place.pointer.insert(0, pointer);
  return error;
}

Result<std::optional<Duration>> duration_of(const Json& object, const std::string& name, const std::string& above) {
  const Json& value = object[name];
  if (!value.is_string()) return std::optional<Duration>();
  auto length = parse_duration(value.as_string());
  if (!length) return wrong_member(above + "/" + name, length.error());
  return std::optional<Duration>(*length);
}

}  // namespace cairn::api
