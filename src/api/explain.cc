#include "api/explain.h"

#include <algorithm>

#include "store/lease_holder.h"

namespace cairn::api {
namespace {

struct Reason {
  std::string text;
  std::string command = {};  // empty: no action is possible
  std::vector<std::string> alternatives = {};
};

std::string quoted(std::string_view text) {
  std::string shell = "'";
  for (const char c : text) shell += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return shell + "'";
}

// Quotes user-chosen text for the shell.
std::string word(std::string_view text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == ':' || c == '@' || c == '/';
  });
  return plain ? std::string(text) : quoted(text);
}

std::string join(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : " or ") + name;
  return list;
}

class Explanation {
 public:
  Explanation(EngineCore& core, const InstanceRow& row)
      : deliveries_(core.deliveries()),
        instances_(core.store()),
        tasks_(core.store()),
        runs_(core.store()),
        types_(core.store()),
        row_(row),
        id_(word(row.id.value)) {
    // If the snapshot or the program is unreadable, that is the reason. The waits are explained as far as they are
    // known.
    if (auto snapshot = instances_.find_snapshot(row.id); snapshot && *snapshot) snapshot_ = std::move(**snapshot);
    if (auto program = core.registry().pinned(row.program)) program_ = *program;
  }

  Result<Json> tell() {
    CAIRN_TRY_VOID(tell_status());
    const bool held = row_.status == Status::suspended;
    std::vector<Wait> waits;
    if (snapshot_) {
      waits = snapshot_->waits;
    } else {
      CAIRN_TRY(waits, instances_.list_waits(row_.id));
    }
    for (const Wait& wait : waits) {
      CAIRN_TRY(Reason reason, reason_of(wait));
      Json told =
          Json::object({{"kind", to_string(wait.kind)},
                        {"reason", (held ? "After it is resumed, step " : "Step ") + wait.step + " " + reason.text},
                        {"since", format_timestamp(wait.since)},
                        {"step", wait.step}});
      if (wait.until) told.set("until", format_timestamp(*wait.until));
      // A suspended instance accepts none of these commands.
      if (!held) add_commands(told, reason);
      reasons_.push_back(std::move(told));
    }
    return Json::object({{"id", row_.id.value}, {"reasons", reasons_}, {"status", to_string(row_.status)}});
  }

 private:
  static void add_commands(Json& told, const Reason& reason) {
    if (reason.command.empty()) return;
    told.set("command", reason.command);
    if (reason.alternatives.empty()) return;
    Json others = Json::array();
    for (const std::string& command : reason.alternatives) others.push_back(command);
    told.set("alternatives", std::move(others));
  }

  Result<void> tell_status() {
    switch (row_.status) {
      case Status::waiting: return {};
      case Status::running: add({"It is running on a node"}, std::nullopt); return {};
      case Status::suspended: return tell_suspension();
      case Status::completed:
      case Status::failed:
      case Status::cancelled:
        std::string text = std::string("It is ") + to_string(row_.status);
        if (row_.error) text += " (" + row_.error->code + ": " + row_.error->message + ")";
        add({text + " and waits for nothing"}, row_.ended_at);
        return {};
    }
    return {};
  }

  Result<void> tell_suspension() {
    CAIRN_TRY(const auto entry, last_suspension());
    std::optional<Timestamp> since;
    if (entry) since = entry->at;
    if (!row_.error) {
      std::string text = "It was suspended by " + (entry ? entry->actor : std::string("an operator"));
      if (entry && entry->details["reason"].is_string())
        text += ": " + std::string(entry->details["reason"].as_string());
      add({text, "cairn resume " + id_, {"cairn cancel " + id_}}, since);
      return {};
    }
    const Failure& error = *row_.error;
    // The snapshot is unchanged: the message that failed is a dead letter.
    if (!snapshot_ || snapshot_->status != Status::suspended) {
      add({"It was suspended by " + error.code + ": " + error.message + "; fix the cause and replay its dead letter",
           "cairn dead list"},
          since);
      return {};
    }
    add({"It is suspended by an incident" + (error.step.empty() ? std::string() : " at step " + error.step) + ": " +
             error.code + ": " + error.message,
         "cairn retry " + id_,
         {"cairn state edit " + id_ + " --patch '{…}'", "cairn skip " + id_, "cairn cancel " + id_}},
        since);
    return {};
  }

  // The log is read from its beginning; only the last such entry counts.
  Result<std::optional<LogEntry>> last_suspension() {
    std::optional<LogEntry> last;
    PageRequest page{1000, ""};
    do {
      CAIRN_TRY(const auto rows, instances_.history(row_.id, page));
      for (const HistoryRow& row : rows.items) {
        if (row.entry.kind == LogEntry::Kind::suspended) last = row.entry;
      }
      page.cursor = rows.next_cursor;
    } while (!page.cursor.empty());
    return last;
  }

  void add(const Reason& reason, std::optional<Timestamp> since) {
    Json told = Json::object({{"reason", reason.text}});
    if (since) told.set("since", format_timestamp(*since));
    add_commands(told, reason);
    reasons_.push_back(std::move(told));
  }

  Result<Reason> reason_of(const Wait& wait) {
    switch (wait.kind) {
      case WaitKind::task: return task_reason(wait);
      case WaitKind::run: return run_reason(wait);
      case WaitKind::timer: return timer_reason(wait);
      case WaitKind::signal: return signal_reason(wait);
      case WaitKind::subworkflow: return child_reason(wait);
    }
    return Error{ErrorCode::internal, "an unknown kind of wait"};
  }

  Result<Reason> task_reason(const Wait& wait) {
    CAIRN_TRY(const auto task, tasks_.find_task({wait.target}));
    std::string who = "any person";
    if (task && !task->roles.empty()) who = "a person with the role " + join(task->roles);
    if (task && !task->assignee.empty()) who = task->assignee;
    std::string but;
    if (task && task->assignee.empty()) {
      const auto current = deliveries_.excluded(row_.id, task->id);
      const std::vector<std::string>& excluded = current ? *current : task->exclude;
      if (!excluded.empty()) but = ", but not " + join(excluded) + ",";
    }
    Reason reason{"waits for " + who + but + " to complete the task " + wait.name,
                  "cairn task complete " + wait.target + " --payload '{…}'"};
    if (task && !task->assignee.empty()) reason.alternatives = {"cairn task release " + wait.target};
    return reason;
  }

  Result<Reason> run_reason(const Wait& wait) {
    CAIRN_TRY(const auto run, runs_.find_run({wait.target}));
    Reason reason{"waits for a worker that handles " + wait.name,
                  "cairn runs show " + wait.target,
                  {"cairn runs cancel " + wait.target}};
    if (wait.name.starts_with("cairn.")) reason.text = "waits for a node to make its call (" + wait.name + ")";
    if (!run) return Reason{reason.text};
    if (run->status == RunStatus::leased) {
      reason.text = "waits for the worker " + LeaseHolder::parse(run->leased_by).label + " to finish " + wait.name;
    } else if (run->run_at > instances_.now()) {
      reason.text = "waits to retry " + wait.name + " at " + format_timestamp(run->run_at);
    }
    if (run->attempt > 0) {
      reason.text += ", attempt " + std::to_string(run->attempt) + " of " + std::to_string(run->attempts_max);
    }
    if (!run->last_error.empty()) reason.text += "; last error: " + run->last_error;
    CAIRN_TRY(const auto types, types_.list_run_types());
    for (const RunTypeRow& type : types) {
      if (type.type != wait.name || !type.paused) continue;
      reason.text += "; runs of this type are paused";
      reason.alternatives = {std::exchange(reason.command, "cairn runs resume " + word(wait.name))};
    }
    return reason;
  }

  // Why the step has set the timer.
  Reason timer_reason(const Wait& wait) {
    const std::string at = wait.until ? format_timestamp(*wait.until) : std::string("a time");
    const bool passed = wait.until && *wait.until <= instances_.now();
    const std::string late =
        passed ? ", which has passed: no node is running on this store, or it is behind (`cairn doctor`)" : "";
    const Frame* frame = frame_of(wait);
    const auto among_options = [&] {
      const Json& options = frame->data["options"];
      return options.is_array() && std::any_of(options.items().begin(), options.items().end(), [&](const Json& token) {
               return token.is_string() && token.as_string() == wait.token.value;
             });
    };
    if (frame && frame->kind == "signal") return {"stops waiting for its signal at " + at + " (timeout)" + late};
    if (frame && frame->kind == "task" && frame->data.text_or("deadline", "") == wait.token.value) {
      return {"has its deadline at " + at + late};
    }
    if (frame && (frame->kind == "task" || (frame->kind == "first" && !among_options()))) {
      return {"reminds of its task at " + at + late};
    }
    return {"waits until " + at + late};
  }

  Reason signal_reason(const Wait& wait) {
    const bool keyed = wait.key.is_string();
    std::string text = "waits for the signal " + wait.name;
    if (keyed) text += " with the key " + std::string(wait.key.as_string());
    if (const SignalSpec* signal = specification_of(wait); signal && signal->where) {
      text += " where `" + std::string(signal->where->text()) + "` is true";
    }
    return {text, "cairn signal " + id_ + " " + word(wait.name) +
                      (keyed ? " --key " + quoted(wait.key.as_string()) : "") + " --payload '{…}'"};
  }

  Result<Reason> child_reason(const Wait& wait) {
    CAIRN_TRY(const auto child, instances_.find_instance({wait.target}));
    const std::string status = child ? std::string(", which is ") + to_string(child->status) : ", which does not exist";
    return Reason{"waits for the subworkflow " + wait.name + ", instance " + wait.target + status,
                  "cairn why " + word(wait.target)};
  }

  // The frame of the waiting step in its strand.
  const Frame* frame_of(const Wait& wait) const {
    if (!snapshot_) return nullptr;
    for (const Strand& strand : snapshot_->strands) {
      if (strand.id == wait.strand && !strand.frames.empty()) return &strand.frames.back();
    }
    return nullptr;
  }

  // The signal that the step waits for; for `first`, the option of that name.
  const SignalSpec* specification_of(const Wait& wait) const {
    if (!program_) return nullptr;
    for (const Step& step : program_->steps) {
      if (step.id != wait.step) continue;
      if (const auto* signal = std::get_if<SignalStep>(&step.body)) return &signal->signal;
      const auto* first = std::get_if<FirstStep>(&step.body);
      if (!first) return nullptr;
      for (const FirstStep::Option& option : first->options) {
        const auto* signal = std::get_if<SignalSpec>(&option.wait);
        if (signal && signal->name == wait.name) return signal;
      }
    }
    return nullptr;
  }

  Deliveries& deliveries_;
  InstanceStore& instances_;
  TaskStore& tasks_;
  RunStore& runs_;
  RunTypeStore& types_;
  const InstanceRow& row_;
  const std::string id_;
  std::optional<Snapshot> snapshot_;
  std::shared_ptr<const Program> program_;
  Json reasons_ = Json::array();
};

}  // namespace

Result<Json> explain(EngineCore& core, const InstanceId& id) {
  CAIRN_TRY(const auto row, core.store().find_instance(id));
  if (!row) return Error{ErrorCode::not_found, "no instance " + id.value};
  return Explanation(core, *row).tell();
}

}  // namespace cairn::api
