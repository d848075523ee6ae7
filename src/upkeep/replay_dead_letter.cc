#include "upkeep/replay_dead_letter.h"

#include "instance/carried_trace.h"
#include "interpreter/reference.h"
#include "store/projection.h"

namespace cairn {

namespace {

Result<StartRequest> start_of(const DeadLetter& letter) {
  const Json& envelope = letter.envelope;
  StartRequest request;
  request.id = std::string(envelope.text_or("instance", ""));
  request.definition = std::string(envelope.text_or("name", ""));
  if (request.id.empty() || request.definition.empty()) {
    return Error{ErrorCode::corrupt, "the dead letter of a start names no definition or no instance"};
  }
  if (envelope["version"].is_string()) request.version = std::string(envelope["version"].as_string());
  request.input = envelope["input"];
  if (!envelope["reference"].is_null()) request.reference = reference_from_json(envelope["reference"]);
  request.traceparent = std::string(envelope.text_or("traceparent", ""));
  return request;
}

Result<std::optional<DeadLetter>> find_dead_letter(UpkeepStore& store, std::int64_t id) {
  PageRequest page{500, ""};
  do {
    CAIRN_TRY(const Page<DeadLetter> letters, store.list_dead_letters(page));
    for (const DeadLetter& letter : letters.items) {
      if (letter.id == id) return std::optional(letter);
    }
    page.cursor = letters.next_cursor;
  } while (!page.cursor.empty());
  return std::optional<DeadLetter>();
}

// A run whose payload could not be read has a letter without it, or with the reason in its place.
bool has_payload(const Json& envelope) {
  const Json* payload = envelope.find("payload");
  if (payload == nullptr) return false;
  return !payload->is_object() || payload->size() != 1 || payload->find("unreadable") == nullptr;
}

// A run that has ended stays ended. One of an instance is made anew by the step that asked for it, if
// the instance still waits there; one on its own is submitted again.
Result<void> replay_run(EngineCore& core, const DeadLetter& letter, const Actor& actor) {
  const RunId id{std::string(letter.envelope.text_or("run", ""))};
  CAIRN_TRY(const auto run, core.store().find_run(id));
  if (letter.instance) {
    CAIRN_TRY(const auto instance, core.store().find_instance(*letter.instance));
    const bool stands_there = instance && run && instance->status == Status::suspended && instance->error &&
                              instance->error->step == run->step;
    if (!stands_there) {
      return Error{ErrorCode::conflict, "instance " + letter.instance->value + " no longer waits for run " + id.value +
                                            "; discard the letter"};
    }
    CAIRN_TRY_VOID(core.instances().request(*letter.instance, RetryRequested{}, actor, instance->state_version));
    return {};
  }
  if (!has_payload(letter.envelope)) {
    return Error{ErrorCode::conflict, "the payload of run " + id.value +
                                          " could not be read, so the run cannot be submitted again; submit a new run "
                                          "and discard the letter"};
  }
  RunRequest request;
  request.id = derived_uuid(id.value, "replay", static_cast<std::uint64_t>(letter.id));
  request.type = std::string(letter.envelope.text_or("type", ""));
  auto [payload, trace] = without_trace(letter.envelope["payload"]);
  request.payload = std::move(payload);
  request.traceparent = std::move(trace);
  if (run) {
    request.priority = run->priority;
    request.attempts_max = run->attempts_max;
    request.backoff = run->backoff;
    request.factor = run->factor;
    request.cap = run->cap;
    request.jitter = run->jitter;
    request.timeout = run->timeout;
  }
  CAIRN_TRY_VOID(core.runs().submit(request));
  return {};
}

}  // namespace

Result<bool> replay_dead_letter(EngineCore& core, std::int64_t id, const Actor& actor) {
  CAIRN_TRY(const auto letter, find_dead_letter(core.store(), id));
  if (!letter) return false;
  if (letter->kind == "start") {
    CAIRN_TRY(StartRequest request, start_of(*letter));
    request.actor = actor;
    // Its id was given when it was first asked for: a second replay finds the first one's instance.
    if (auto started = core.instances().start(std::move(request));
        !started && started.error().code != ErrorCode::conflict) {
      return std::move(started).error();
    }
    return core.store().discard_dead_letter(id);
  }
  if (letter->kind == "run") {
    CAIRN_TRY_VOID(replay_run(core, *letter, actor));
    return core.store().discard_dead_letter(id);
  }
  if (letter->kind == "signal") {
    // It is kept for ever now: an operator wants it delivered.
    CorrelatedSignal signal = signal_of(letter->envelope);
    signal.id = derived_uuid(signal.id, "replay", static_cast<std::uint64_t>(letter->id));
    signal.remember = true;  // a second replay of the same letter sends nothing
    CAIRN_TRY_VOID(core.store().record_signal(signal));
    return core.store().discard_dead_letter(id);
  }
  return core.store().replay_dead_letter(id);
}

}  // namespace cairn
