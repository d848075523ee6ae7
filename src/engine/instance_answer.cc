#include "engine/instance_answer.h"

namespace cairn {

Result<InstanceAnswer> answer_of(Result<Delivered, DeliveryError> delivered) {
  if (!delivered) return std::move(delivered).error().error;
  const Snapshot& after = *delivered->after;
  const bool repeated = delivered->kind == Delivered::Kind::duplicate_signal;
  return InstanceAnswer{after.instance, after.version, after.status, after.output, repeated};
}

bool tells_of_predecessor(const Json& first, Timestamp started_at) {
  const Json& started_ms = first["started_ms"];  // answers of older nodes have none
  return started_ms.is_integer() && started_ms.as_integer() != started_at.unix_ms();
}

Result<InstanceAnswer> repeated_answer(InstanceStore& store, const std::string& key, const char* what,
                                       const Json& first, bool same_request) {
  if (!same_request) {
    return Error{ErrorCode::conflict,
                 "idempotency_key_reused: the idempotency key '" + key + "' was used for another " + what};
  }
  InstanceAnswer again;
  again.instance = {std::string(first.text_or("instance", ""))};
  again.repeated = true;
  CAIRN_TRY(const auto row, store.find_instance(again.instance));
  again.gone = !row || tells_of_predecessor(first, row->started_at);
  const auto status = status_from(first.text_or("status", ""));
  if (status && first["version"].is_integer()) {
    again.version = static_cast<std::uint64_t>(first["version"].as_integer());
    again.status = *status;
  } else if (!again.gone) {
    again.version = row->version;
    again.status = row->status;
  }
  if (again.gone || (again.status != Status::completed && again.status != Status::running)) return again;
  CAIRN_TRY(const auto rested, store.find_snapshot(again.instance));
  if (!rested || tells_of_predecessor(first, rested->started_at)) return again;
  if (again.status == Status::running) {
    again.version = rested->version;
    again.status = rested->status;
  }
  again.output = rested->output;
  return again;
}

}  // namespace cairn
