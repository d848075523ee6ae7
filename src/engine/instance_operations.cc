// Requests of operators: cancel, suspend, resume, retry, skip, edit, discard a signal, remove.
#include <algorithm>

#include "engine/check_input.h"
#include "engine/instance_requests.h"
#include "engine/request_key.h"
#include "engine/sender_scope.h"

namespace cairn {

namespace {

// The id under which a kept signal is stored: as given, or with the mark of its sender. If two senders use the same id,
// the operator must write the stored one.
Result<std::string> kept_signal_id(InstanceStore& store, const InstanceId& instance, std::string id) {
  CAIRN_TRY(const auto snapshot, store.find_snapshot(instance));
  if (!snapshot) return id;
  const auto& kept = snapshot->signals;
  const bool exact = std::any_of(kept.begin(), kept.end(), [&](const BufferedSignal& one) { return one.id == id; });
  if (exact) return id;
  std::string stored;
  for (const BufferedSignal& signal : kept) {
    if (unscoped_id(signal.id) != id) continue;
    if (!stored.empty()) {
      return Error{ErrorCode::conflict, "two senders have a signal " + id + ": " + stored + " and " + signal.id};
    }
    stored = signal.id;
  }
  return stored.empty() ? id : stored;
}

// The reason of an operator's request.
const std::string* reason_of(const EventBody& what) {
  return std::visit(
      [](const auto& body) -> const std::string* {
        if constexpr (requires { body.reason; }) {
          return &body.reason;
        } else {
          return nullptr;
        }
      },
      what);
}

}  // namespace

Result<void> InstanceRequests::check(const InstanceId& id, EventBody& what) const {
  const Limits& limits = context_.options.limits;
  if (const std::string* reason = reason_of(what)) {
    CAIRN_TRY_VOID(check_incoming(Json(*reason), "the reason", limits));
  }
  if (const auto* edit = std::get_if<StateEdited>(&what)) {
    return check_incoming(edit->merge_patch, "the patch", limits);
  }
  if (const auto* skip = std::get_if<SkipRequested>(&what)) return check_incoming(skip->result, "the result", limits);
  if (auto* discarded = std::get_if<SignalDiscarded>(&what)) {
    CAIRN_TRY_VOID(check_incoming_text(discarded->id, "the signal's id", limits));
    CAIRN_TRY(discarded->id, kept_signal_id(instances_, id, std::move(discarded->id)));
  }
  return {};
}

void InstanceRequests::request(const InstanceId& id, EventBody what, const Actor& actor,
                               std::optional<std::uint64_t> state_version, Done<Result<InstanceAnswer>> done) {
  auto checked = check_incoming_text(actor.name, "the actor", context_.options.limits);
  if (checked) checked = check(id, what);
  if (!checked) return done(std::move(checked).error());
  Delivery delivery;
  delivery.instance = id;
  delivery.what = std::move(what);
  delivery.actor = actor.name;
  delivery.state_version = state_version;
  if (!RequestKey::current().empty()) delivery.cause.inbox = Unit::Inbox{id, RequestKey::current()};
  deliveries_.deliver(std::move(delivery), [done = std::move(done)](Deliveries::Outcome delivered) {
    if (!delivered || delivered->kind != Delivered::Kind::stale) return done(answer_of(std::move(delivered)));
    const Snapshot& now = *delivered->after;
    done(Error{ErrorCode::conflict, "instance " + now.instance.value + " is " + to_string(now.status)});
  });
}

Result<InstanceAnswer> InstanceRequests::request(const InstanceId& id, EventBody what, const Actor& actor,
                                                 std::optional<std::uint64_t> state_version) {
  return deliveries_.wait_for<Result<InstanceAnswer>>(
      [&](Done<Result<InstanceAnswer>> done) { request(id, std::move(what), actor, state_version, std::move(done)); });
}

void InstanceRequests::remove(InstanceId id, std::string reason, Done<Result<void>> done) {
  deliveries_.write_elsewhere([this, id = std::move(id), reason = std::move(reason)] { return remove(id, reason); },
                              std::move(done));
}

Result<void> InstanceRequests::remove(const InstanceId& id, const std::string& reason) {
  CAIRN_TRY(const auto row, instances_.find_instance(id));
  if (!row) return Error{ErrorCode::not_found, "no instance " + id.value};
  CAIRN_TRY(const bool done, instances_.mark_deleted(id, reason));
  if (!done) {
    return Error{ErrorCode::conflict, "instance " + id.value + " is " + to_string(row->status) + "; cancel it first"};
  }
  return {};
}

}  // namespace cairn
