#include "engine/instance_answer.h"

namespace cairn {

Result<InstanceAnswer> answer_of(Result<Delivered, DeliveryError> delivered) {
  if (!delivered) return std::move(delivered).error().error;
  const Snapshot& after = *delivered->after;
  const bool repeated = delivered->kind == Delivered::Kind::duplicate_signal;
  return InstanceAnswer{after.instance, after.version, after.status, after.output, repeated};
}

Result<InstanceAnswer> repeated_answer(Store& store, const std::string& key, const char* what, const Json& first,
                                       bool same_request) {
  if (!same_request) {
    return Error{ErrorCode::conflict,
                 "idempotency_key_reused: the idempotency key '" + key + "' was used for another " + what};
  }
  InstanceAnswer again;
  again.instance = {std::string(first.text_or("instance", ""))};
  again.repeated = true;
  const auto status = status_from(first.text_or("status", ""));
  if (status && first["version"].is_integer()) {
    again.version = static_cast<std::uint64_t>(first["version"].as_integer());
    again.status = *status;
  } else {
    CAIRN_TRY(const auto row, store.find_instance(again.instance));
    if (row) {
      again.version = row->version;
      again.status = row->status;
    }
  }
  if (again.status != Status::completed && again.status != Status::running) return again;
  CAIRN_TRY(const auto rested, store.find_snapshot(again.instance));
  if (!rested) return again;
  if (again.status == Status::running) {
    again.version = rested->version;
    again.status = rested->status;
  }
  again.output = rested->output;
  return again;
}

}  // namespace cairn
