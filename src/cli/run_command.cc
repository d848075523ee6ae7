#include "cli/commands.h"

#include "base/clock.h"
#include "cli/exit_code.h"
#include "cli/load_definitions.h"
#include "cli/run_arguments.h"

namespace cairn::cli {
namespace {

// With skipped time, a loop that waits in each round never ends.
constexpr int skipped_timers_max = 10'000;

Json cloud_event(const Rehearsal::Emitted& emitted, const std::string& workflow) {
  Json event = Json::object({{"data", emitted.event.data},
                             {"datacontenttype", "application/json"},
                             {"id", emitted.event.id.value},
                             {"source", "/cairn/" + workflow + "/" + emitted.instance.value},
                             {"specversion", "1.0"},
                             {"time", format_timestamp(emitted.at)},
                             {"type", emitted.event.type}});
  if (!emitted.event.subject.empty()) event.set("subject", emitted.event.subject);
  return event;
}

// Passes the answers of the command line to a rehearsal and prints its progress on standard error.
class CommandLineRun {
 public:
  CommandLineRun(RunArguments& arguments, Rehearsal& rehearsal, std::ostream& err)
      : arguments_(arguments), rehearsal_(rehearsal), err_(err) {}

  Result<void> run() {
    report();
    for (const RunArguments::Signal& signal : arguments_.signals) {
      if (over()) break;
      const std::string id = "signal-" + std::to_string(delivered_);
      const auto sent = rehearsal_.signal({id, signal.name, signal.key, signal.payload});
      if (!sent && sent.error().code == ErrorCode::limit) {
        err_ << "cairn run: " << sent.error().message << "\n";
        break;
      }
      CAIRN_TRY_VOID(sent);
      report();
      ++delivered_;
    }
    while (!over()) {
      CAIRN_TRY(const bool answered, give_answer());
      if (answered) continue;
      if (!arguments_.skip_time) break;
      if (++timers_fired_ > skipped_timers_max) {
        err_ << "cairn run: stopped: --skip-time fired " << skipped_timers_max
             << " timers and retries; this workflow may wait for ever in a loop\n";
        break;
      }
      CAIRN_TRY(const bool fired, rehearsal_.fire_next());
      report();
      if (!fired) break;
    }
    return {};
  }

  void name_unused() {
    for (const RunArguments::Answer& answer : arguments_.answers) {
      if (!answer.used) err_ << "cairn run: not used: --answer " << answer.given << "\n";
    }
    const auto kept = rehearsal_.kept_signals();
    for (std::size_t i = 0; i < arguments_.signals.size(); ++i) {
      bool unused = i >= delivered_;
      for (const Rehearsal::Kept& signal : kept) unused = unused || signal.id == "signal-" + std::to_string(i);
      if (unused) err_ << "cairn run: not used: --signal " << arguments_.signals[i].given << "\n";
    }
    for (const CallReply& reply : rehearsal_.unused_replies()) {
      err_ << "cairn run: not used: --reply " << reply.target << "\n";
    }
  }

 private:
  bool over() const {
    const Status status = rehearsal_.root().snapshot.status;
    return is_final(status) || status == Status::suspended;
  }

  // The first unused answer whose task is open (rule R4); false when there is none.
  Result<bool> give_answer() {
    for (RunArguments::Answer& answer : arguments_.answers) {
      if (answer.used) continue;
      for (const Rehearsal::OpenTask& task : rehearsal_.open_tasks()) {
        if (task.row.name != answer.task) continue;
        answer.used = true;
        const Rehearsal::OpenTask open = task;
        auto completed = rehearsal_.complete(open, answer.user, answer.payload);
        report();
        if (completed) return true;
        const ErrorCode code = completed.error().code;
        if (code != ErrorCode::invalid && code != ErrorCode::not_allowed && code != ErrorCode::conflict) {
          return std::move(completed).error();
        }
        err_ << "cairn run: refused: --answer " << answer.given << ": " << completed.error().message << "\n";
        return true;
      }
    }
    return false;
  }

  void report() {
    const auto& emitted = rehearsal_.emitted();
    for (; events_reported_ < emitted.size(); ++events_reported_) {
      const Rehearsal::Emitted& one = emitted[events_reported_];
      err_ << "event " << one.event.type;
      if (!one.event.subject.empty()) err_ << " " << one.event.subject;
      err_ << "\n";
      if (!arguments_.verbose) continue;
      const Rehearsal::Instance* instance = rehearsal_.find(one.instance);
      err_ << write_json(cloud_event(one, instance ? instance->program->name : "")) << "\n";
    }
    const auto& continued = rehearsal_.continuations();
    for (; continuations_reported_ < continued.size(); ++continuations_reported_) {
      const InstanceStart& start = continued[continuations_reported_];
      err_ << "continue_with " << start.name << (start.version ? " " + *start.version : "") << " as " << start.id.value
           << " (not run here)\n";
    }
  }

  RunArguments& arguments_;
  Rehearsal& rehearsal_;
  std::ostream& err_;
  std::size_t events_reported_ = 0;
  std::size_t continuations_reported_ = 0;
  std::size_t delivered_ = 0;
  int timers_fired_ = 0;
};

// What to do about a run that did not complete.
std::string advice(const Snapshot& snapshot) {
  const std::string at = snapshot.error && !snapshot.error->at.empty() ? " at " + snapshot.error->at : "";
  switch (snapshot.status) {
    case Status::waiting:
    case Status::running:
      return "it waits: give --answer, --signal or --reply for what `waits` lists, or --skip-time to let timers fire";
    case Status::suspended: return "it was suspended" + at + ": correct the definition or the input and run it again";
    case Status::failed: return "it failed" + at + ", by a `fail` step or its on_error; see `error`";
    case Status::cancelled:
    case Status::completed: break;
  }
  return "it was cancelled";
}

int print_result(const Rehearsal& rehearsal, std::ostream& out, std::ostream& err) {
  const Snapshot& snapshot = rehearsal.root().snapshot;
  if (snapshot.status == Status::completed) {
    out << write_json(snapshot.output) << "\n";
    return exit_done;
  }
  Json document = Json::object({{"state", snapshot.state}});
  if (snapshot.status == Status::waiting || snapshot.status == Status::running) {
    document.set("status", "waiting");
    document.set("waits", rehearsal.waits());
  } else {
    document.set("status", to_string(snapshot.status));
    document.set("error", snapshot.error ? to_json(*snapshot.error) : Json());
  }
  out << write_json(document) << "\n";
  for (const Rehearsal::Instance* child : rehearsal.suspended_children()) {
    const auto& error = child->snapshot.error;
    err << "cairn run: the subworkflow " << child->program->name << " is suspended";
    if (error) err << " at " << error->at << ": " << error->code << ": " << error->message;
    err << "\n";
  }
  err << "cairn run: " << advice(snapshot) << "\n";
  return exit_not_completed;
}

}  // namespace

int run_run(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  const Limits limits;
  RunArguments arguments;
  if (const auto over = read_run_arguments(args, limits, arguments, in, out, err)) return *over;

  auto program = load_program("run", arguments.file, limits, in, err);
  if (!program) return program.error();
  auto known = std::make_shared<DefinitionIndex>();
  if (const int code = load_programs("run", arguments.with, limits, *known, in, err); code != exit_done) return code;
  known->add(*program);

  SystemClock clock;
  Rehearsal::Options options;
  options.setting.config = arguments.config;
  options.setting.limits = limits;
  options.setting.known = std::move(known);
  options.begins_at = clock.now();
  Rehearsal rehearsal(std::move(options));
  for (CallReply& reply : arguments.replies) rehearsal.add_reply(std::move(reply));
  const auto started = rehearsal.start(*program, {new_uuid(clock.now())}, arguments.input);
  if (!started) {
    err << "cairn run: " << started.error().message << "\n";
    return exit_code_of(started.error().code);
  }
  CommandLineRun run(arguments, rehearsal, err);
  if (const auto ran = run.run(); !ran) {
    err << "cairn run: " << ran.error().message << "\n";
    return exit_failed;
  }
  run.name_unused();
  return print_result(rehearsal, out, err);
}

}  // namespace cairn::cli
