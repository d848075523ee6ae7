#include <algorithm>

#include "base/limit_refusals.h"
#include "base/ordered_id.h"
#include "interpreter/failures.h"
#include "interpreter/waiting.h"
#include "schema/error_places.h"

namespace cairn {
namespace {

bool addresses(const Json& wanted_key, const std::string& wanted_name, const std::string& name, const Json& key) {
  return name == wanted_name && (wanted_key.is_null() || wanted_key == key);
}

Result<bool, Failure> fits(Turn& turn, const SignalSpec& signal, const Json& payload) {
  if (!signal.where) return true;
  const expr::Bindings bindings = turn.machine.scope().bind(turn.strand);
  turn.machine.scope().add(slot_signal, payload);
  auto holds = signal.where->evaluate_condition(bindings, turn.machine.budget());
  if (!holds) {
    return expression_failure(turn.machine.program(), &turn.step, holds.error(), "where", signal.where->text());
  }
  return *holds;
}

struct Faulted {
  std::uint64_t strand;
  Failure failure;
};

// Raises each error of a `where` in the strand of its waiting step, if that strand is still at this step.
void raise_all(Machine& machine, std::vector<Faulted> faulted) {
  for (Faulted& one : faulted) {
    if (is_final(machine.snapshot().status) || machine.snapshot().status == Status::suspended) return;
    ActiveStrand* strand = machine.find_strand(one.strand);
    if (!strand || strand->ready || strand->top().kind != ActiveFrame::Kind::step) continue;
    Turn(machine, *strand, strand->top().index).fail(std::move(one.failure));
  }
}

// Gives the signal to the oldest open wait that matches. False if no wait took it. Without `faulted`, a wait whose
// `where` fails does not match.
bool offer(Machine& machine, const std::string& name, const Json& key, const Json& payload,
           std::vector<Faulted>* faulted) {
  // A copy, because taking a wait changes the list.
  const std::vector<Wait> waits = machine.snapshot().waits;
  for (const Wait& wait : waits) {
    if (wait.kind != WaitKind::signal || !addresses(wait.key, wait.name, name, key)) continue;
    // An error in `where` is an error of the step, so its other options are closed.
    const bool over = faulted && std::any_of(faulted->begin(), faulted->end(),
                                             [&](const Faulted& one) { return one.strand == wait.strand; });
    if (over) continue;
    ActiveStrand* strand = machine.find_strand(wait.strand);
    if (!strand || strand->top().kind != ActiveFrame::Kind::step) continue;
    Turn turn(machine, *strand, strand->top().index);
    const SignalSpec* signal = find_signal(turn, wait.token);
    if (!signal) continue;
    auto taken = fits(turn, *signal, payload);
    if (!taken) {
      if (faulted) faulted->push_back({strand->id, std::move(taken).error()});
      continue;
    }
    if (!*taken) continue;
    machine.wake(
        *strand,
        {.wait = machine.take_wait(wait.token), .payload = payload, .failure = {}, .by = {}, .task_fields = {}});
    return true;
  }
  return false;
}

}  // namespace

Result<Json, Failure> signal_key(Turn& turn, const SignalSpec& signal) {
  if (!signal.key) return Json();
  CAIRN_TRY(std::string key, turn.text(*signal.key, "key"));
  return turn.machine.bounded_key(&turn.step, Json(key), "key");
}

namespace {

bool is_over(const Machine& machine, const BufferedSignal& signal) {
  return signal.until && *signal.until <= machine.now();
}

}  // namespace

std::optional<Json> take_kept_signal(Turn& turn, const SignalSpec& signal, const Json& key) {
  auto& kept = turn.machine.snapshot().signals;
  for (auto candidate = kept.begin(); candidate != kept.end(); ++candidate) {
    if (!addresses(key, signal.name, candidate->name, candidate->key) || is_over(turn.machine, *candidate)) continue;
    // A signal whose `where` fails stays kept. Otherwise it would block the matching signals behind it forever.
    const auto taken = fits(turn, signal, candidate->payload);
    if (!taken || !*taken) continue;
    Json payload = std::move(candidate->payload);
    turn.machine.close_timer(candidate->token);
    kept.erase(candidate);
    return payload;
  }
  return std::nullopt;
}

WaitToken open_signal(Turn& turn, const SignalSpec& signal, Json key) {
  Wait wait;
  wait.kind = WaitKind::signal;
  wait.step = turn.step.id;
  wait.name = signal.name;
  wait.key = std::move(key);
  return turn.machine.open_wait(turn.strand, std::move(wait));
}

const SignalSpec* find_signal(const Turn& turn, const WaitToken& token) {
  if (const auto* step = std::get_if<SignalStep>(&turn.step.body)) return &step->signal;
  const auto* first = std::get_if<FirstStep>(&turn.step.body);
  if (!first) return nullptr;
  const auto option = position_of(turn.data(), "options", token);
  if (!option || *option >= first->options.size()) return nullptr;
  return std::get_if<SignalSpec>(&first->options[*option].wait);
}

Result<void> may_keep(const Setting& setting, const Snapshot& snapshot, const SignalReceived& signal) {
  const std::size_t kept_max = setting.limits.buffered_signals_max;
  const std::size_t bytes_max = setting.limits.buffered_signals_bytes_max;
  const std::string where =
      "limit_signals: instance " + snapshot.instance.value + " does not wait for signal " + signal.name + " and keeps ";
  if (snapshot.signals.size() >= kept_max) {
    return limit_error("limits.signals_per_instance_max", static_cast<std::int64_t>(kept_max),
                       where + std::to_string(kept_max) + " signals already");
  }
  // Every commit of the instance writes them all.
  std::string text;
  write_json(signal.payload, text);
  for (const BufferedSignal& kept : snapshot.signals) {
    if (text.size() > bytes_max) break;
    write_json(kept.payload, text);
  }
  if (text.size() <= bytes_max) return {};
  return limit_error("limits.signals_bytes_per_instance_max", static_cast<std::int64_t>(bytes_max),
                     where + "almost " + std::to_string(bytes_max) + " bytes of signals already");
}

Result<void> check_payload(const Program& program, const SignalReceived& signal) {
  const auto rule = program.signals.find(signal.name);
  if (rule == program.signals.end() || !rule->second.schema) return {};
  const schema::Schema& schema = *rule->second.schema;
  if (schema.accepts(signal.payload)) return {};
  const auto violations = schema.check(signal.payload);
  return Error{ErrorCode::invalid,
               "signal " + signal.name + ": its schema refuses the payload: " + schema::listed(violations),
               schema::error_places(violations, "/payload")};
}

void keep_signal(Machine& machine, const SignalReceived& signal, Timestamp at, std::uint64_t held) {
  BufferedSignal kept{.id = signal.id,
                      .name = signal.name,
                      .key = signal.key,
                      .payload = signal.payload,
                      .at = at,
                      .held = held,
                      .until = signal.until};
  const auto rule = machine.program().signals.find(signal.name);
  if (!kept.until && rule != machine.program().signals.end() && rule->second.ttl) {
    kept.until = add(at, *rule->second.ttl);
  }
  if (kept.until) {
    Wait timer;
    timer.token.value = ordered_uuid(machine.snapshot().instance.value, "wait", machine.next_number());
    timer.kind = WaitKind::timer;
    timer.since = at;
    timer.until = kept.until;
    timer.name = signal.name;
    kept.token = timer.token;
    machine.out().waits_opened.push_back(std::move(timer));
  }
  machine.snapshot().signals.push_back(std::move(kept));
}

void expire_signal(Machine& machine, const std::string& id) {
  auto& kept = machine.snapshot().signals;
  const auto found = std::find_if(kept.begin(), kept.end(), [&](const BufferedSignal& one) { return one.id == id; });
  if (found == kept.end()) return;
  const Json signal = Json::object(
      {{"id", found->id}, {"name", found->name}, {"key", found->key}, {"at", format_timestamp(found->at)}});
  machine.log(LogEntry::Kind::edited, "", Json::object({{"expired", signal}}));
  OutboxEvent event;
  event.id.value = derived_uuid(machine.snapshot().instance.value, "event", machine.next_number());
  event.type = "cairn.signal.expired";
  event.subject = machine.snapshot().instance.value;
  event.data = Json::object({{"instance", machine.snapshot().instance.value}, {"signal", signal}});
  machine.out().outbox.push_back(std::move(event));
  machine.close_timer(found->token);
  machine.out().signals_expired.push_back(std::move(*found));
  kept.erase(found);
}

Result<void> deliver_signal(Machine& machine, const SignalReceived& signal, Timestamp at) {
  std::vector<Faulted> faulted;
  if (!offer(machine, signal.name, signal.key, signal.payload, &faulted)) {
    CAIRN_TRY_VOID(may_keep(machine.setting(), machine.snapshot(), signal));
    keep_signal(machine, signal, at, 0);
  }
  raise_all(machine, std::move(faulted));
  return {};
}

void offer_kept_signals(Machine& machine) {
  auto& kept = machine.snapshot().signals;
  for (std::size_t i = 0; i < kept.size();) {
    const BufferedSignal signal = kept[i];
    if (signal.held == 0 && !is_over(machine, signal) &&
        offer(machine, signal.name, signal.key, signal.payload, nullptr)) {
      machine.close_timer(signal.token);
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void offer_held_signal(Machine& machine, std::size_t index) {
  auto& kept = machine.snapshot().signals;
  kept[index].held = 0;
  const BufferedSignal signal = kept[index];
  std::vector<Faulted> faulted;
  if (!is_over(machine, signal) && offer(machine, signal.name, signal.key, signal.payload, &faulted)) {
    machine.close_timer(signal.token);
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(index));
  }
  raise_all(machine, std::move(faulted));
}

std::optional<std::size_t> position_of(const Json& data, std::string_view key, const WaitToken& token) {
  const Json& tokens = data[key];
  if (!tokens.is_array()) return std::nullopt;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Json& item = tokens.items()[i];
    if (item.is_string() && item.as_string() == token.value) return i;
  }
  return std::nullopt;
}

}  // namespace cairn
