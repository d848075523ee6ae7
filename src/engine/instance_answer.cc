#include "engine/instance_answer.h"

namespace cairn {

InstanceAnswer answer_of(const Snapshot& snapshot) {
  return {snapshot.instance, snapshot.status, snapshot.state_version, snapshot.output, snapshot.error};
}

Result<InstanceAnswer> answer_of(Result<Delivered, DeliveryError> delivered) {
  if (!delivered) return std::move(delivered).error().error;
  InstanceAnswer answer = answer_of(*delivered->after);
  answer.repeated = delivered->kind == Delivered::Kind::duplicate_signal;
  return answer;
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
  if (status && first["state_version"].is_integer()) {
    again.state_version = static_cast<std::uint64_t>(first["state_version"].as_integer());
    again.status = *status;
  } else if (!again.gone) {
    again.state_version = row->state_version;
    again.status = row->status;
  }
  if (again.gone || again.status == Status::waiting) return again;
  CAIRN_TRY(const auto rested, store.find_snapshot(again.instance));
  if (!rested || tells_of_predecessor(first, rested->started_at)) return again;
  if (again.status == Status::running) {
    again.state_version = rested->state_version;
    again.status = rested->status;
  }
  if (rested->state_version != again.state_version) return again;  // it has moved since
  again.output = rested->output;
  again.error = rested->error;
  return again;
}

}  // namespace cairn
