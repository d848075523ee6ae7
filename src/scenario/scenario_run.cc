#include <algorithm>

#include "scenario/scenario.h"

namespace cairn {
namespace {

class RehearsalStage final : public Stage {
 public:
  RehearsalStage(const Scenario& scenario, Rehearsal& rehearsal) : scenario_(scenario), rehearsal_(rehearsal) {}

  Result<void> start(const InstanceId& id) override {
    return rehearsal_.start(scenario_.program, id, scenario_.input, scenario_.reference);
  }
  Result<void> answer(const std::string& name, const std::string& by, const Json& payload) override {
    for (const Rehearsal::OpenTask& task : rehearsal_.open_tasks()) {
      if (task.row.name != name) continue;
      const Rehearsal::OpenTask open = task;
      return rehearsal_.complete(open, by, payload);
    }
    return Error{ErrorCode::not_found, "no task " + name + " is open"};
  }
  Result<void> signal(const SignalReceived& signal, std::optional<Duration> ttl) override {
    return rehearsal_.signal(signal, ttl);
  }
  Result<void> reply(const CallReply& reply) override { return rehearsal_.reply_now(reply); }
  Result<void> request(EventBody what) override { return rehearsal_.request(std::move(what)); }
  Result<bool> fire_next(std::optional<Timestamp> until) override { return rehearsal_.fire_next(until); }
  void move_clock(Timestamp to) override { rehearsal_.move_clock(to); }
  Timestamp now() const override { return rehearsal_.now(); }

  Json show(const std::string& key) override {
    const Snapshot& snapshot = rehearsal_.root().snapshot;
    if (key == "status") return to_string(snapshot.status);
    if (key == "state") return snapshot.state;
    if (key == "output") return snapshot.output;
    if (key == "error") return snapshot.error ? to_json(*snapshot.error) : Json();
    if (key == "reference") return Json::object({{"key", snapshot.reference.key}, {"parts", snapshot.reference.parts}});
    if (key == "waits") return rehearsal_.waits();
    if (key == "now") return format_timestamp(rehearsal_.now());
    Json list = Json::array();
    if (key == "tasks") {
      for (const auto& task : rehearsal_.open_tasks()) list.push_back(task.row.name);
    } else if (key == "closed_tasks") {
      for (const auto& task : rehearsal_.closed_tasks()) {
        list.push_back(Json::object({{"by", task.closed.by},
                                     {"name", task.row.name},
                                     {"payload", task.closed.payload},
                                     {"status", to_string(task.closed.status)}}));
      }
    } else if (key == "events") {
      for (const auto& one : rehearsal_.emitted()) {
        list.push_back(
            Json::object({{"data", one.event.data}, {"subject", one.event.subject}, {"type", one.event.type}}));
      }
    } else if (key == "calls") {
      for (const auto& run : rehearsal_.pending_runs()) {
        list.push_back(Json::object({{"attempt", run.attempt},
                                     {"payload", run.intent.payload},
                                     {"step", run.intent.step},
                                     {"type", run.intent.type}}));
      }
    } else if (key == "continued") {
      for (const auto& start : rehearsal_.continuations()) {
        list.push_back(Json::object({{"input", start.input},
                                     {"name", start.name},
                                     {"version", start.version ? Json(*start.version) : Json()}}));
      }
    } else if (key == "signals") {
      for (const auto& kept : rehearsal_.kept_signals()) list.push_back(kept.name);
    }
    return list;
  }

 private:
  const Scenario& scenario_;
  Rehearsal& rehearsal_;
};

class ScenarioRun {
 public:
  ScenarioRun(const Scenario& scenario, Stage& stage) : scenario_(scenario), stage_(stage) {}

  std::vector<std::string> run() {
    go_through();
    return std::move(problems_);
  }

 private:
  void go_through() {
    // A step before every event may expect that the start is refused.
    const bool start_refused =
        !scenario_.steps.empty() && scenario_.steps.front().kind.empty() && !scenario_.steps.front().refused.is_null();
    const auto started = stage_.start({derived_uuid("scenario", scenario_.name)});
    if (start_refused) return check_refused(scenario_.steps.front(), started);
    if (!started) return problem(scenario_.line, "the start was refused: " + started.error().message);
    for (const ScenarioStep& step : scenario_.steps) {
      if (!step.kind.empty()) {
        const auto done = apply(step);
        if (!step.refused.is_null()) {
          check_refused(step, done);
        } else if (!done) {
          problem(step.line, step.kind + " was refused: " + done.error().message);
        }
      }
      if (!step.expect.is_null()) expect(step);
    }
  }

  void problem(int line, const std::string& what) {
    problems_.push_back(scenario_.file + ":" + std::to_string(line) + ": " +
                        (scenario_.name.empty() ? "" : scenario_.name + ": ") + what);
  }

  void check_refused(const ScenarioStep& step, const Result<void>& done) {
    if (done) {
      problem(step.line, "expected to be refused, but was not");
    } else if (step.refused.is_string() && done.error().message.find(step.refused.as_string()) == std::string::npos) {
      problem(step.line, "refused, but with another reason: " + done.error().message);
    }
  }

  Result<void> apply(const ScenarioStep& step) {
    const Json& value = step.value;
    if (step.kind == "answer") {
      return stage_.answer(std::string(value.text_or("task", "")), std::string(value.text_or("by", "cli")),
                           value["with"]);
    }
    if (step.kind == "signal") {
      const std::string name(value.is_string() ? value.as_string() : value.text_or("name", ""));
      sent_.push_back(name);
      std::optional<Duration> ttl;
      if (const Json* length = value.is_object() ? value.find("ttl") : nullptr) {
        CAIRN_TRY(ttl, parse_duration(length->as_string()));
      }
      return stage_.signal({signal_id(sent_.size()), name, value["key"], value["payload"]}, ttl);
    }
    if (step.kind == "reply") return reply(value);
    if (step.kind == "clock") return clock(value);
    if (step.kind == "next_timer") {
      CAIRN_TRY(const bool fired, stage_.fire_next(std::nullopt));
      if (!fired) return Error{ErrorCode::not_found, "no timer is set"};
      return {};
    }
    const std::string reason(value.is_string() ? value.as_string() : "");
    if (step.kind == "cancel") return stage_.request(CancelRequested{reason});
    if (step.kind == "suspend") return stage_.request(SuspendRequested{reason});
    if (step.kind == "resume") return stage_.request(ResumeRequested{});
    if (step.kind == "retry") return stage_.request(RetryRequested{});
    if (step.kind == "discard_signal") return discard_signal(reason);
    if (step.kind == "skip") return stage_.request(SkipRequested{value["result"]});
    return stage_.request(StateEdited{value});
  }

  static std::string signal_id(std::size_t number) { return "signal-" + std::to_string(number); }

  // Discards the oldest kept signal of that name.
  Result<void> discard_signal(const std::string& name) {
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      if (sent_[i] != name) continue;
      auto done = stage_.request(SignalDiscarded{signal_id(i + 1)});
      if (done || done.error().code != ErrorCode::not_found) return done;
    }
    return Error{ErrorCode::not_found, "no signal " + name + " is kept"};
  }

  Result<void> reply(const Json& value) {
    CallReply reply;
    reply.target = value.text_or("to", "");
    reply.result = value["result"];
    if (const Json* error = value.find("error")) {
      Json full = *error;
      if (!full.is_object()) return Error{ErrorCode::invalid, "`error` of a reply has a `code`"};
      if (!full.find("class")) full.set("class", "transport");
      if (!full.find("message")) full.set("message", std::string(full.text_or("code", "failed")));
      CAIRN_TRY(reply.failure, failure_from_json(full));
    }
    return stage_.reply(reply);
  }

  // +2d moves the clock by that much; an instant moves it there. Everything due on the way fires in order.
  Result<void> clock(const Json& value) {
    const std::string_view text = value.is_string() ? value.as_string() : std::string_view();
    Timestamp to;
    if (text.starts_with('+')) {
      CAIRN_TRY(const Duration by, parse_duration(text.substr(1)));
      to = add(stage_.now(), by).value_or(stage_.now());
    } else {
      CAIRN_TRY(to, parse_timestamp(text));
      if (to < stage_.now()) {
        return Error{ErrorCode::invalid, "the clock shows " + format_timestamp(stage_.now()) + " and does not go back"};
      }
    }
    // The bound stops a workflow that sets a new timer whenever one fires.
    constexpr int fired_max = 100'000;
    for (int fired = 0; fired < fired_max; ++fired) {
      CAIRN_TRY(const bool another, stage_.fire_next(to));
      if (another) continue;
      stage_.move_clock(to);
      return {};
    }
    return Error{ErrorCode::limit, "more than " + std::to_string(fired_max) + " timers fired on the way"};
  }

  void expect(const ScenarioStep& step) {
    for (const Json::Member& member : step.expect.members()) {
      const std::string key = member.key.str();
      const Json found = stage_.show(key == "state_is" ? "state" : key);
      // Outputs and `state_is` must match exactly. Every other value may have additional members.
      if (key == "output" || key == "state_is") {
        if (!same_value(member.value, found)) {
          problem(step.line, key + ": expected " + write_json(member.value) + ", found " + write_json(found));
        }
      } else if (const auto difference = find_difference(member.value, found, key)) {
        problem(step.line, *difference);
      }
    }
  }

  const Scenario& scenario_;
  Stage& stage_;
  std::vector<std::string> problems_;
  std::vector<std::string> sent_;  // the names of the signals so far
};

}  // namespace

std::optional<std::string> find_difference(const Json& expected, const Json& actual, const std::string& place) {
  const auto differs = [&] { return place + ": expected " + write_json(expected) + ", found " + write_json(actual); };
  if (expected.is_object()) {
    if (!actual.is_object()) return differs();
    for (const Json::Member& member : expected.members()) {
      const Json* found = actual.find(member.key);
      const std::string inner = place + "." + member.key.str();
      if (!found)
        return inner + ": expected " + write_json(member.value) + ", but there is none in " + write_json(actual);
      if (auto difference = find_difference(member.value, *found, inner)) return difference;
    }
    return std::nullopt;
  }
  if (expected.is_array()) {
    if (!actual.is_array() || actual.size() != expected.size()) return differs();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::string inner = place + "[" + std::to_string(i) + "]";
      if (auto difference = find_difference(expected.items()[i], actual.items()[i], inner)) return difference;
    }
    return std::nullopt;
  }
  if (!same_value(expected, actual)) return differs();
  return std::nullopt;
}

std::vector<std::string> play(const Scenario& scenario, Stage& stage) { return ScenarioRun(scenario, stage).run(); }

ScenarioOutcome run_scenario(const Scenario& scenario, bool restart_at_every_commit) {
  Rehearsal::Options options;
  options.setting.config = scenario.config;
  options.setting.limits = scenario.limits;
  options.setting.known = scenario.known;
  options.setting.trace = true;
  options.begins_at = scenario.begins_at;
  options.calls_fail_without_reply = scenario.calls_fail;
  options.restart_at_every_commit = restart_at_every_commit;
  options.record_commits = true;
  Rehearsal rehearsal(std::move(options));
  for (const CallReply& reply : scenario.replies) rehearsal.add_reply(reply);
  ScenarioOutcome outcome;
  RehearsalStage stage(scenario, rehearsal);
  outcome.problems = play(scenario, stage);
  outcome.commits = rehearsal.commits();
  outcome.traces = rehearsal.traces();
  return outcome;
}

}  // namespace cairn
