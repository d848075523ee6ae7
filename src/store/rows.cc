#include "store/rows.h"

#include "base/limit_refusals.h"

namespace cairn {

Error too_many_kept(const CorrelatedSignal& signal, bool of_this_key) {
  if (of_this_key) {
    return limit_error(
        "limits.signals_per_key_max", static_cast<std::int64_t>(signal.kept_per_key_max),
        "no instance waits for the signal " + signal.name + ", and the limit of kept signals is reached");
  }
  return limit_error("limits.signals_total_max", static_cast<std::int64_t>(signal.kept_total_max),
                     "no instance waits for the signal " + signal.name + ", and the store keeps no more signals");
}

const char* to_string(TaskEvent::Kind kind) {
  switch (kind) {
    case TaskEvent::Kind::created: return "created";
    case TaskEvent::Kind::assigned: return "assigned";
    case TaskEvent::Kind::released: return "released";
    case TaskEvent::Kind::reassigned: return "reassigned";
    case TaskEvent::Kind::completed: return "completed";
    case TaskEvent::Kind::cancelled: return "cancelled";
    case TaskEvent::Kind::expired: return "expired";
    case TaskEvent::Kind::commented: return "commented";
  }
  return "unknown";
}

const char* to_string(RunStatus status) {
  switch (status) {
    case RunStatus::pending: return "pending";
    case RunStatus::leased: return "leased";
    case RunStatus::succeeded: return "succeeded";
    case RunStatus::failed: return "failed";
    case RunStatus::cancelled: return "cancelled";
  }
  return "unknown";
}

std::optional<RunStatus> run_status_from(std::string_view text) {
  for (const RunStatus status :
       {RunStatus::pending, RunStatus::leased, RunStatus::succeeded, RunStatus::failed, RunStatus::cancelled}) {
    if (text == to_string(status)) return status;
  }
  return std::nullopt;
}

const char* to_string(Message::Kind kind) {
  switch (kind) {
    case Message::Kind::signal: return "signal";
    case Message::Kind::child_finished: return "child_finished";
    case Message::Kind::cancel: return "cancel";
    case Message::Kind::run_finished: return "run_finished";
  }
  return "unknown";
}

std::optional<Message::Kind> message_kind_from(std::string_view text) {
  for (const Message::Kind kind :
       {Message::Kind::signal, Message::Kind::child_finished, Message::Kind::cancel, Message::Kind::run_finished}) {
    if (text == to_string(kind)) return kind;
  }
  return std::nullopt;
}

}  // namespace cairn
