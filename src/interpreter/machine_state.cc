// Writes business state (rules S1, S2, S23).
#include "base/json_size.h"
#include "instance/key_length.h"
#include "interpreter/failures.h"
#include "interpreter/machine.h"
#include "interpreter/state_path.h"

namespace cairn {

Result<Json, Failure> Machine::bounded(const Step* step, Json value, std::string_view what) const {
  const std::string place = step ? " (" + step->path + ")" : "";
  if (is_deeper_than(value, setting_.limits.json_depth_max)) {
    return make_failure(program_, step, FailureClass::definition, "limit_value",
                        std::string(what) + " is nested deeper than " + std::to_string(setting_.limits.json_depth_max) +
                            " levels (limit: JSON depth)" + place);
  }
  const std::size_t bytes_max = setting_.limits.body_bytes_max;
  const auto bytes = written_beyond(value, bytes_max);
  if (!bytes) return value;
  return make_failure(program_, step, FailureClass::definition, "limit_value",
                      std::string(what) + " is " + std::to_string(*bytes) + " bytes long, more than " +
                          std::to_string(bytes_max) + " (limit: body)" + place);
}

Result<Json, Failure> Machine::bounded_key(const Step* step, Json key, std::string_view what) const {
  if (!key.is_string() || !is_too_long_a_key(key.as_string())) return key;
  return make_failure(program_, step, FailureClass::definition, "limit_value",
                      std::string(what) + " is longer than " + std::to_string(key_characters_max) +
                          " characters (limit: key)" + (step ? " (" + step->path + ")" : ""));
}

Failure Machine::too_deep(const Step* step) const {
  return make_failure(program_, step, FailureClass::definition, "limit_state",
                      "the state would be nested deeper than " + std::to_string(setting_.limits.json_depth_max) +
                          " levels (limit: JSON depth)");
}

Result<void, Failure> Machine::write_state(const Step* step, Json state) {
  const std::size_t bytes_max = setting_.limits.state_bytes_max;
  if (is_deeper_than(state, setting_.limits.json_depth_max)) return too_deep(step);
  const std::size_t bytes = written_length(state);
  if (bytes > bytes_max) {
    return make_failure(program_, step, FailureClass::definition, "limit_state",
                        "the state would be " + std::to_string(bytes) + " bytes long, more than " +
                            std::to_string(bytes_max) + " (limit: business state)");
  }
  CAIRN_TRY_VOID(check_schema(step, state));
  state_bytes_bound_ = bytes;
  out_.after.state = std::move(state);
  return {};
}

Result<void, Failure> Machine::check_schema(const Step* step, const Json& state) const {
  if (!program_.state_schema || program_.state_schema->accepts(state)) return {};
  return make_failure(program_, step, FailureClass::expression, "state_schema",
                      "the state would break `state_schema`: " + schema::listed(program_.state_schema->check(state)));
}

Result<void, Failure> Machine::assign(const Step* step, const StatePath& path, Json value) {
  Json& state = out_.after.state;
  if (const auto conflict = find_conflict(state, path)) {
    return make_failure(program_, step, FailureClass::expression, "path_conflict", *conflict);
  }
  const int levels = setting_.limits.json_depth_max - static_cast<int>(path.names.size());
  if (levels < 0 || is_deeper_than(value, levels)) return too_deep(step);
  // The exact length is computed only near the limit. An assignment adds at most its value, its names and the
  // punctuation around them.
  if (state_bytes_bound_ == 0) state_bytes_bound_ = written_length(state);
  const std::size_t bound = state_bytes_bound_ + written_length(value) + 8 * (path.text.size() + path.names.size());
  if (bound > setting_.limits.state_bytes_max || program_.state_schema) {
    Json written = state;
    set_path(written, path, std::move(value));
    return write_state(step, std::move(written));
  }
  state_bytes_bound_ = bound;
  set_path(state, path, std::move(value));
  return {};
}

}  // namespace cairn
