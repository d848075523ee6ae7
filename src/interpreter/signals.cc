#include <algorithm>

#include "base/limit_refusals.h"
#include "interpreter/failures.h"
#include "interpreter/waiting.h"

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

std::optional<Json> take_kept_signal(Turn& turn, const SignalSpec& signal, const Json& key) {
  auto& kept = turn.machine.snapshot().signals;
  for (auto candidate = kept.begin(); candidate != kept.end(); ++candidate) {
    if (!addresses(key, signal.name, candidate->name, candidate->key)) continue;
    // A signal whose `where` fails stays kept. Otherwise it would block the matching signals behind it forever.
    const auto taken = fits(turn, signal, candidate->payload);
    if (!taken || !*taken) continue;
    Json payload = std::move(candidate->payload);
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

Result<void> may_keep(const Setting& setting, const Snapshot& snapshot, const std::string& name) {
  const std::size_t kept_max = setting.limits.buffered_signals_max;
  if (snapshot.signals.size() < kept_max) return {};
  return limit_error("signals_per_instance", static_cast<std::int64_t>(kept_max),
                     "limit_signals: instance " + snapshot.instance.value + " does not wait for signal " + name +
                         " and keeps " + std::to_string(kept_max) + " signals already");
}

Result<void> deliver_signal(Machine& machine, const SignalReceived& signal, Timestamp at) {
  std::vector<Faulted> faulted;
  if (!offer(machine, signal.name, signal.key, signal.payload, &faulted)) {
    CAIRN_TRY_VOID(may_keep(machine.setting(), machine.snapshot(), signal.name));
    machine.snapshot().signals.push_back(
        {.id = signal.id, .name = signal.name, .key = signal.key, .payload = signal.payload, .at = at});
  }
  raise_all(machine, std::move(faulted));
  return {};
}

void offer_kept_signals(Machine& machine) {
  auto& kept = machine.snapshot().signals;
  for (std::size_t i = 0; i < kept.size();) {
    const BufferedSignal signal = kept[i];
    if (signal.held == 0 && offer(machine, signal.name, signal.key, signal.payload, nullptr)) {
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
  if (offer(machine, signal.name, signal.key, signal.payload, &faulted)) {
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
