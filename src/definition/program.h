// A definition ready to run: flat, indexed, with compiled expressions, immutable. `compile_program` makes it from the
// canonical form. Every instance that is pinned to it shares it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "definition/place_index.h"
#include "definition/template.h"
#include "expr/expression.h"
#include "schema/schema.h"
#include "time/cron.h"

namespace cairn {

using StepIndex = std::uint32_t;
using BlockIndex = std::uint32_t;
inline constexpr std::uint32_t no_index = std::numeric_limits<std::uint32_t>::max();

// The names in scope and their slots in `expr::Bindings`, the same for every expression of a program. The item names of
// loops start at `first_item`, one slot per distinct name.
enum Slot : std::uint32_t {
  slot_input,
  slot_state,
  slot_ref,
  slot_workflow,
  slot_config,
  slot_now,
  slot_task,
  slot_completion,
  slot_signal,
  slot_error,
  slot_index,
  slot_first_item,
};

struct SourcePlace {
  int line = 0;  // 0: unknown, as in a program made from a stored canonical form
  int column = 0;
};

// A path into business state, as in `set` and `result`: names joined by dots.
struct StatePath {
  std::string text;
  std::vector<std::string> names;
};

// `key` and `parts` of a business reference. In a reference step, a missing key keeps the old one.
struct ReferenceTemplate {
  std::optional<Template> key;
  std::optional<Template> parts;  // always an object
};

struct RetryPolicy {
  int attempts = 3;  // the first one counts too
  Duration backoff = Duration::of_seconds(1);
  double factor = 2;
  Duration cap = Duration::of_seconds(300);
  double jitter = 0.5;
};

// A duration or an instant, depending on the value.
struct DueTemplate {
  std::optional<DurationTemplate> after;
  std::optional<TimeTemplate> at;
  std::optional<expr::Expression> either;
};

struct DeadlineSpec {
  std::optional<DurationTemplate> after;  // exactly one of after and at
  std::optional<TimeTemplate> at;
  bool interrupt = true;
  BlockIndex steps = no_index;
};

struct TaskSpec {
  std::string name;
  std::optional<Template> title;
  std::optional<Template> roles;       // gives a list of text
  std::optional<Template> exclude;     // gives a list of text; evaluated whenever a person takes or completes the task
  std::vector<std::string> four_eyes;  // task names: one person completes at most one of these and this one
  std::optional<Template> payload;
  std::optional<schema::Schema> form;
  std::vector<expr::Expression> require;
  std::optional<DeadlineSpec> deadline;  // never inside `first`
  std::optional<Template> priority;      // an int
  std::optional<DueTemplate> due;
  std::optional<Template> assignee;
  std::vector<DurationTemplate> remind;
  std::optional<StatePath> result;
  BlockIndex on_complete = no_index;
};

struct WaitSpec {
  std::optional<DurationTemplate> duration;  // exactly one of the two
  std::optional<TimeTemplate> until;
};

struct SignalSpec {
  std::string name;
  std::optional<Template> key;
  std::optional<expr::Expression> where;
  std::optional<StatePath> result;
  std::optional<DurationTemplate> timeout;  // never inside `first`
  BlockIndex on_timeout = no_index;
};

// What the definition says about the signals of one name (rule S35).
struct SignalRule {
  std::optional<Duration> ttl;           // how long an instance keeps one that no step has taken; absent: for ever
  std::optional<schema::Schema> schema;  // of the payload
};

struct SetStep {
  struct Assignment {
    StatePath path;
    Template value;
  };
  std::vector<Assignment> assignments;
};
struct ReferenceStep {
  ReferenceTemplate reference;
};
struct TaskStep {
  TaskSpec task;
};
struct CallStep {
  std::string transport;                    // http, graphql, worker, or a registered transport
  std::string worker_type;                  // only for transport `worker`
  Template request;                         // the body of the transport's key; for `worker` the payload
  std::optional<DurationTemplate> timeout;  // per attempt
  RetryPolicy retry;
  std::optional<StatePath> result;
  BlockIndex on_failure = no_index;
  BlockIndex on_timeout = no_index;
};
struct IfStep {
  expr::Expression condition;
  BlockIndex then_block = no_index;
  BlockIndex else_block = no_index;  // no_index: none
};
struct SwitchStep {
  struct Case {
    expr::Expression when;
    BlockIndex steps = no_index;
  };
  std::vector<Case> cases;
  BlockIndex otherwise = no_index;  // `default`
};
struct RepeatStep {
  enum class Kind { for_each, while_true, times };
  Kind kind = Kind::for_each;
  std::optional<Template> over;               // for_each: the list; times: the count
  std::optional<expr::Expression> condition;  // while
  std::string item_name;                      // for_each only
  std::uint32_t item_slot = no_index;
  std::optional<std::int64_t> max;
  BlockIndex body = no_index;
};
struct ParallelStep {
  struct Branch {
    std::string name;
    BlockIndex steps = no_index;
  };
  std::vector<Branch> branches;
  std::size_t join = 0;    // how many branches must end: all is their number, any is 1
  bool four_eyes = false;  // one person completes at most one of the tasks in its branches
};
struct FirstStep {
  struct Option {
    std::variant<SignalSpec, WaitSpec, TaskSpec> wait;
    BlockIndex steps = no_index;
  };
  std::vector<Option> options;
};
struct WaitStep {
  WaitSpec wait;
};
struct SignalStep {
  SignalSpec signal;
};
struct SubworkflowStep {
  std::string name;
  std::optional<std::string> version;  // absent: the newest when the step starts
  std::optional<Template> input;
  std::optional<ReferenceTemplate> reference;
  std::optional<StatePath> result;
  BlockIndex on_failure = no_index;
};
struct ContinueStep {
  std::string name;
  std::optional<std::string> version;
  std::optional<Template> input;
  std::optional<ReferenceTemplate> reference;
};
struct EmitStep {
  Template type;  // gives text
  std::optional<Template> subject;
  std::optional<Template> data;
};
struct TryStep {
  struct Catch {
    std::optional<expr::Expression> when;  // absent: takes every error
    BlockIndex steps = no_index;
  };
  BlockIndex body = no_index;
  std::vector<Catch> catches;
  BlockIndex finally_block = no_index;
};
struct UndoStep {};
struct FailStep {
  std::string code;
  std::optional<Template> message;
  std::optional<Template> details;
};
struct CompleteStep {
  std::optional<Template> output;
};

using StepBody = std::variant<SetStep, ReferenceStep, TaskStep, CallStep, IfStep, SwitchStep, RepeatStep, ParallelStep,
                              FirstStep, WaitStep, SignalStep, SubworkflowStep, ContinueStep, EmitStep, TryStep,
                              UndoStep, FailStep, CompleteStep>;

struct Step {
  std::string id;    // unique; equal to `path` if the author gave none
  std::string path;  // readable place: steps[3].else[0]
  std::string title;
  std::optional<expr::Expression> when;
  BlockIndex compensate = no_index;
  BlockIndex block = no_index;  // the block that contains it
  std::uint32_t position = 0;   // its index in that block
  SourcePlace at;
  StepBody body;
};

// A list of steps: the root, a branch or a lane. Some lanes mean the same empty as missing: else, default, on_complete,
// deadline, finally, an option's steps. These have no block if they are empty. The lanes on_failure, on_timeout, catch
// and case always have a block if written, because an empty one handles the error or ends the search.
struct Block {
  std::vector<StepIndex> steps;
  StepIndex owner = no_index;  // the step whose lane this is; no_index for the root
  std::string lane;            // then, else, case0, default, repeat, parallel.NAME, option0, try, catch0, finally,
                     // on_complete, option0.on_complete, deadline, on_failure, on_timeout, compensate; root: steps
};

// When instances start automatically: exactly one of cron and every.
struct ScheduleSpec {
  enum class Overlap { skip, queue, allow, cancel_other };
  std::optional<Cron> cron;
  std::optional<Duration> every;
  std::string zone = "UTC";  // IANA name
  Template input;            // may use config and now
  Overlap overlap = Overlap::skip;
  Duration catch_up;  // how far back missed starts are made up for
  Duration jitter;    // each start is delayed by up to this much
};

enum class OnError { suspend, fail, compensate };
enum class Checkpoint { wait, step };

// What must exist for a program to run; all sorted.
struct Requirements {
  std::vector<std::string> transports;
  std::vector<std::string> workers;                               // types
  std::vector<std::pair<std::string, std::string>> subworkflows;  // name, version or ""
  std::vector<std::string> config;
  std::vector<std::string> secrets;
};

struct Program {
  std::string name;
  std::string version;
  std::string title;
  std::string digest;  // SHA-256 of the canonical bytes, hexadecimal
  std::string file;    // as given when read from a file, else empty
  Json canonical;
  std::optional<schema::Schema> input;
  std::optional<schema::Schema> state_schema;
  std::map<std::string, SignalRule, std::less<>> signals;
  std::set<std::string, std::less<>> signal_names;  // that steps wait for
  // By task name: the other tasks that a person who completed this one may not complete (rule S36).
  std::map<std::string, std::set<std::string>, std::less<>> four_eyes;
  std::optional<ReferenceTemplate> reference;
  std::optional<Template> state;
  std::optional<Template> managers;  // gives a list of text
  std::optional<Template> output;
  std::vector<ScheduleSpec> schedules;
  OnError on_error = OnError::suspend;
  Checkpoint checkpoint = Checkpoint::wait;
  std::vector<Step> steps;
  std::vector<Block> blocks;            // blocks[0] is the root
  std::vector<std::string> item_names;  // item_names[i] is in slot slot_first_item + i
  Requirements needs;
  bool names_reference = false, names_workflow = false;  // some expression reads `ref`, `workflow`
  PlaceIndex places;                                     // filled last, when steps and blocks are final

  std::size_t slots() const { return slot_first_item + item_names.size(); }
  // The step with this id, or no_index.
  StepIndex find_step(const std::string& id) const;

  std::unordered_map<std::string, StepIndex> step_by_id;
};

// Compiles a stored canonical form. It does not trust the form: every inconsistency is an error.
Result<std::shared_ptr<const Program>> compile_program(const Json& canonical);

}  // namespace cairn
