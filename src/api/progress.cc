#include "api/progress.h"

#include <algorithm>

#include "interpreter/strand.h"

namespace cairn::api {
namespace {

using render::Overlay;
using render::Progress;
using render::StepProgress;

// Reads from the log whether each step is done, failed or skipped, how often, and how long the last time took.
void take_history(Overlay& overlay, const std::vector<HistoryRow>& history) {
  std::unordered_map<std::string, Timestamp> waiting_since;
  for (const HistoryRow& row : history) {
    const LogEntry& entry = row.entry;
    // Steps that ended within their slice are named by the next row.
    if (const Json& ran = entry.details["ran"]; ran.is_array()) {
      for (const Json& id : ran.items()) {
        if (!id.is_string()) continue;
        StepProgress& step = overlay.steps[std::string(id.as_string())];
        step.progress = Progress::done;
        ++step.visits;
      }
    }
    if (entry.step.empty()) continue;
    StepProgress& step = overlay.steps[entry.step];
    switch (entry.kind) {
      case LogEntry::Kind::started: waiting_since[entry.step] = entry.at; break;
      case LogEntry::Kind::completed:
        step.progress = Progress::done;
        ++step.visits;
        if (const Json& waited = entry.details["duration_ms"]; waited.is_integer()) {
          step.took = Duration::of_ms(waited.as_integer());
        } else if (const auto since = waiting_since.find(entry.step); since != waiting_since.end()) {
          step.took = between(since->second, entry.at);
        }
        waiting_since.erase(entry.step);
        break;
      case LogEntry::Kind::faulted:
      case LogEntry::Kind::suspended:
        step.progress = Progress::failed;
        step.attempt = entry.attempt > 1 ? entry.attempt : 0;
        break;
      case LogEntry::Kind::skipped: step.progress = Progress::skipped; break;
      case LogEntry::Kind::resumed:
      case LogEntry::Kind::cancelled:
      case LogEntry::Kind::edited: break;
    }
  }
}

// Everything before the position of a strand was passed, even without a row in the log.
void take_strands(Overlay& overlay, const Program& program, const Snapshot& snapshot) {
  const auto strands = activate(program, snapshot.strands);
  if (!strands) return;  // the incident gives the reason
  for (const auto& strand : *strands) {
    for (const ActiveFrame& frame : strand->frames) {
      if (frame.kind == ActiveFrame::Kind::block && frame.index < program.blocks.size()) {
        const std::vector<StepIndex>& steps = program.blocks[frame.index].steps;
        for (std::size_t i = 0; i < steps.size(); ++i) {
          StepProgress& step = overlay.steps[program.steps[steps[i]].id];
          // In a loop, later steps belong to the previous round.
          if (i > frame.position) {
            step = {};
          } else if (i == frame.position) {
            step.progress = Progress::current;
            step.took.reset();
          } else if (step.progress == Progress::not_reached) {
            step.progress = Progress::done;
          }
        }
      } else if (frame.kind == ActiveFrame::Kind::step && frame.index < program.steps.size()) {
        const Step& at = program.steps[frame.index];
        StepProgress& step = overlay.steps[at.id];
        step.progress = Progress::current;
        const Json& round = frame.data["index"];
        if (!std::holds_alternative<RepeatStep>(at.body) || !round.is_integer()) continue;
        step.iteration = round.as_integer() + 1;
        if (frame.data["items"].is_array()) step.iterations = static_cast<std::int64_t>(frame.data["items"].size());
        if (frame.data["times"].is_integer()) step.iterations = frame.data["times"].as_integer();
      }
    }
  }
}

// The built-in transports have short names: cairn.http.v1 is "http".
std::string waited_for(const Wait& wait) {
  const std::string_view name = wait.name;
  if (wait.kind != WaitKind::run || !name.starts_with("cairn.") || !name.ends_with(".v1")) return wait.name;
  return std::string(name.substr(6, name.size() - 9));
}

void take_waits(Overlay& overlay, const Snapshot& snapshot, const std::vector<RunRow>& runs, Timestamp now) {
  for (const Wait& wait : snapshot.waits) {
    StepProgress& step = overlay.steps[wait.step];
    if (step.progress != Progress::failing) step.progress = Progress::waiting;
    if (wait.until && (!step.left || between(now, *wait.until) < *step.left)) step.left = between(now, *wait.until);
    if (wait.kind != WaitKind::timer) step.waiting_for = waited_for(wait);
    if (wait.kind != WaitKind::run) continue;
    const auto run =
        std::find_if(runs.begin(), runs.end(), [&](const RunRow& row) { return row.id.value == wait.target; });
    if (run == runs.end()) continue;
    const bool trying_again = !run->last_error.empty() || run->attempt > 1;
    if (!trying_again) continue;
    step.progress = Progress::failing;
    step.attempt = run->attempt;
    step.attempts_max = run->attempts_max;
    if (run->status == RunStatus::pending && run->run_at > now) step.left = between(now, run->run_at);
  }
}

}  // namespace

Overlay progress_of(const Program& program, const Snapshot& snapshot, const std::vector<HistoryRow>& history,
                    const std::vector<RunRow>& runs, Timestamp now) {
  Overlay overlay;
  overlay.instance =
      snapshot.reference.key.is_string() ? std::string(snapshot.reference.key.as_string()) : snapshot.instance.value;
  overlay.status = to_string(snapshot.status);
  overlay.ended = snapshot.status == Status::completed;
  take_history(overlay, history);
  if (!is_final(snapshot.status)) {
    take_strands(overlay, program, snapshot);
    take_waits(overlay, snapshot, runs, now);
  }
  if (snapshot.error && !snapshot.error->step.empty()) {
    StepProgress& step = overlay.steps[snapshot.error->step];
    step.progress = Progress::failed;
    step.attempt = snapshot.error->attempt > 1 ? snapshot.error->attempt : 0;
    step.left.reset();
  }
  return overlay;
}

Result<Overlay> read_progress(InstanceStore& instances, RunStore& runs, const Program& program,
                              const Snapshot& snapshot) {
  std::vector<HistoryRow> history;
  PageRequest page{1000, ""};
  do {
    CAIRN_TRY(Page<HistoryRow> rows, instances.history(snapshot.instance, page));
    std::move(rows.items.begin(), rows.items.end(), std::back_inserter(history));
    page.cursor = rows.next_cursor;
  } while (!page.cursor.empty());
  std::vector<RunRow> pending;
  for (const Wait& wait : snapshot.waits) {
    if (wait.kind != WaitKind::run) continue;
    CAIRN_TRY(auto run, runs.find_run({wait.target}));
    if (run) pending.push_back(std::move(*run));
  }
  return progress_of(program, snapshot, history, pending, instances.now());
}

}  // namespace cairn::api
