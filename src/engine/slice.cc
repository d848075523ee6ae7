#include "engine/slice.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/message_body.h"
#include "instance/carried_trace.h"
#include "interpreter/reference.h"
#include "store/projection.h"

namespace cairn {
namespace {

const char* name_of(const EventBody& what) {
  static constexpr std::array names{"started",          "continued",         "signal_received",  "timer_fired",
                                    "task_completed",   "task_expired",      "run_finished",     "child_finished",
                                    "cancel_requested", "suspend_requested", "resume_requested", "retry_requested",
                                    "skip_requested",   "state_edited",      "signal_discarded"};
  static_assert(names.size() == std::variant_size_v<EventBody>);
  return names[what.index()];
}

// Keeps only the waits that have a row in the store.
void keep_rows(Advance& advance, const Snapshot* before) {
  std::erase_if(advance.waits_opened, [](const Wait& wait) { return !has_row(wait); });
  if (before == nullptr) return;
  std::erase_if(advance.waits_closed, [before](const WaitToken& token) {
    return std::any_of(before->waits.begin(), before->waits.end(),
                       [&](const Wait& wait) { return wait.token == token && !has_row(wait); });
  });
}

}  // namespace

Slice::Slice(Registry& registry, Setting setting, Timestamp at, std::string actor, std::string node)
    : registry_(registry), setting_(std::move(setting)), at_(at), actor_(std::move(actor)), node_(std::move(node)) {
  unit.actor = node_;
}

// The id derives from the result, so the same history gives the same bytes on every node. A signal has its own id.
Event Slice::event(const InstanceId& id, std::uint64_t state_version, EventBody what) const {
  Event event;
  const auto* signal = std::get_if<SignalReceived>(&what);
  event.id = {signal ? signal->id : id.value + ":" + std::to_string(state_version)};
  event.at = at_;
  event.actor = actor_;
  event.what = std::move(what);
  return event;
}

Result<void> Slice::start(const Program& program, Started started) {
  first_ = started.instance.value;
  first_program_ = &program;
  const InstanceId id = started.instance;
  CAIRN_TRY(Advance advance, cairn::start(program, setting_, event(id, 1, std::move(started))));
  take(std::move(advance));
  start_and_notify();
  return {};
}

Result<void> Slice::apply(const Program& program, const Snapshot& before, EventBody what) {
  first_ = before.instance.value;
  first_program_ = &program;
  cause_ = name_of(what);
  CAIRN_TRY(Advance next,
            advance(program, setting_, before, event(before.instance, before.state_version + 1, std::move(what))));
  if (next.outcome == Advance::Outcome::stale) {
    stale_ = true;
    ground_ = &before;
    return {};
  }
  take(std::move(next), &before);
  start_and_notify();
  return {};
}

SliceCounts Slice::take_counts() {
  if (unit.timer && !stale_) counts_.timer_late = between(unit.timer->due, at_);
  return std::move(counts_);
}

void Slice::take(Advance advance, const Snapshot* before) {
  const InstanceId& id = advance.after.instance;
  counts_.add(advance, before);
  keep_rows(advance, before);
  advance.renamed =
      before == nullptr || before->program != advance.after.program || before->reference != advance.after.reference;
  std::erase(unfinished_, id);
  if (advance.unfinished) unfinished_.push_back(id);
  for (const InstanceStart& start : advance.starts) to_start_.emplace_back(id, start);
  for (const InstanceId& child : advance.children_cancelled) {
    unit.messages.push_back(cancel_message(child, "the parent no longer needs it"));
  }
  if (advance.notice) to_tell_.push_back(*advance.notice);
  for (const BufferedSignal& signal : advance.signals_expired) {
    unit.dead_letters.push_back(letter_of_expiry(id, signal, node_));
  }
  if (const std::string trace = carried_by(advance.after); !trace.empty()) {
    for (RunIntent& run : advance.runs) run.payload = with_trace(std::move(run.payload), trace);
  }
  reached_.try_emplace(id.value, Reached{advance.from_state_version}).first->second.place = unit.advances.size();
  unit.advances.push_back(std::move(advance));
}

void Slice::start_and_notify() {
  while (!to_start_.empty() || !to_tell_.empty()) {
    // All children of an advance exist before the first of them runs: one that ends may cancel another.
    auto starts = std::exchange(to_start_, {});
    for (const auto& [parent, start] : starts) start_child(parent, start);
    if (!to_start_.empty()) continue;
    if (to_tell_.empty()) break;
    const ParentNotice notice = to_tell_.front();
    to_tell_.erase(to_tell_.begin());
    const auto found = reached_.find(notice.parent.instance.value);
    const Snapshot* const parent = found == reached_.end() ? nullptr : &unit.advances[found->second.place].after;
    // The target is not in this unit, or is in the middle of its own slice: it gets a message.
    if (parent == nullptr || is_final(parent->status) ||
        std::find(unfinished_.begin(), unfinished_.end(), notice.parent.instance) != unfinished_.end()) {
      unit.messages.push_back(message_of(notice));
      continue;
    }
    const auto own = programs_.find(notice.parent.instance.value);
    const Program& program = own == programs_.end() ? *first_program_ : *own->second;
    auto next = advance(program, setting_, *parent,
                        event(notice.parent.instance, parent->state_version + 1,
                              ChildFinished{notice.parent.token, notice.output, notice.failure}));
    if (next && next->outcome == Advance::Outcome::applied) {
      take(std::move(*next), parent);
    } else if (!next) {
      unit.messages.push_back(message_of(notice));
    }
  }
}

void Slice::start_child(const InstanceId& parent, const InstanceStart& start) {
  const auto refuse = [&](const char* code, std::string message) {
    Failure failure;
    failure.failure_class = FailureClass::definition;
    failure.code = code;
    failure.message = std::move(message);
    failure.step = start.step;
    refuse_child(parent, start, std::move(failure));
  };
  if (++started_ > starts_max) {
    return refuse("limit_starts", "one decision may start at most " + std::to_string(starts_max) + " instances");
  }
  auto program = registry_.find(start.name, start.version);
  if (!program) return refuse("unknown_workflow", program.error().message);
  Started started;
  started.instance = start.id;
  started.input = start.input;
  started.reference = start.reference;
  started.inherited = start.inherited;
  if (start.token) started.parent = Parent{parent, *start.token};
  started.trace = carried_by(latest(parent.value));
  auto first = cairn::start(**program, setting_, event(start.id, 1, std::move(started)));
  if (!first) return refuse("invalid_input", first.error().message);
  programs_[start.id.value] = *program;
  take(std::move(*first));
}

void Slice::refuse_child(const InstanceId& parent, const InstanceStart& start, Failure failure) {
  if (start.token) {
    to_tell_.push_back({{parent, *start.token}, Json(), std::move(failure)});
    return;
  }
  // No instance waits for a continuation, so operators must learn of the failure.
  DeadLetter letter;
  letter.instance = parent;
  letter.kind = "start";
  letter.envelope = Json::object({{"instance", start.id.value},
                                  {"name", start.name},
                                  {"version", start.version ? Json(*start.version) : Json()},
                                  {"input", start.input},
                                  {"reference", start.reference ? to_json(*start.reference) : Json()}});
  if (const std::string trace = carried_by(latest(parent.value)); !trace.empty()) {
    letter.envelope.set("traceparent", trace);
  }
  letter.reason = failure.code + ": " + failure.message;
  letter.node = node_;
  unit.dead_letters.push_back(std::move(letter));
}

}  // namespace cairn
