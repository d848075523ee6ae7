// One advance at work: the strands of an instance, which of them can run, and everything that the
// slice has decided so far. Steps (steps.h) are written against this and against Turn (turn.h).
//
// Nothing here recurses over the definition: strands are explicit stacks and the agenda says whose
// turn is next, so that depth and length of a definition never meet the C++ stack.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instance/event.h"
#include "interpreter/advance.h"
#include "interpreter/names_in_scope.h"
#include "interpreter/strand.h"

namespace cairn {

// What wakes a step that waits.
struct Wakening {
  Wait wait;  // as it was; already closed
  Json payload;
  std::optional<Failure> failure;
  std::string by;
  Json task_fields;
  int attempt = 1;  // of a run that succeeded
};

class Machine {
 public:
  // `snapshot` is the instance as it was before the event.
  Machine(const Program& program, const Setting& setting, Snapshot snapshot, const Event& event);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // ErrorCode::corrupt when the snapshot does not fit the program.
  Result<void> load();
  // The main strand of a new instance; the reference that it was given, if any.
  void begin_instance(const std::optional<Reference>& given, const std::optional<Reference>& inherited);
  // Runs ready strands until all of them rest, the instance ends or is suspended, or a checkpoint cuts.
  void run();
  // The decision. Afterwards the machine is used up.
  Advance finish();

  const Program& program() const { return program_; }
  const Setting& setting() const { return setting_; }
  Snapshot& snapshot() { return out_.after; }
  Advance& out() { return out_; }
  Timestamp now() const { return now_; }
  const std::string& actor() const { return actor_; }
  NamesInScope& scope() { return scope_; }
  expr::Budget budget() const;
  std::uint64_t next_number() { return ++out_.after.counter; }

  // Strands.
  ActiveStrand* find_strand(std::uint64_t id);
  ActiveStrand& main_strand();
  ActiveStrand& add_strand(std::uint64_t parent, BlockIndex block);
  bool strand_fits() const;  // one more would not pass the limit
  void make_ready(ActiveStrand& strand);
  // Cancels what runs inside the top step of `strand`: nothing of it goes on, not even `finally`.
  void cancel_children(const ActiveStrand& strand);
  void cancel_all_but(const std::vector<std::uint64_t>& kept);

  // Frames.
  void push_step(ActiveStrand& strand, StepIndex step, Json data);
  void push_block(ActiveStrand& strand, BlockIndex block);
  void pop(ActiveStrand& strand);
  // Drops the frames above `depth`, their waits and the strands inside them.
  void unwind(ActiveStrand& strand, std::size_t depth);
  // The step at which the top block stands has ended without error.
  void end_step(ActiveStrand& strand);

  // Waits. `wait` comes with kind, step, until, name, key and target.
  WaitToken open_wait(ActiveStrand& strand, Wait wait);
  const Wait* find_wait(const WaitToken& token) const;
  // Closes a wait that was woken: it did what it was for.
  Wait take_wait(const WaitToken& token);
  // Closes what `strand` waits for because nobody waits any more: tasks, runs and children are cancelled.
  void abandon_waits(ActiveStrand& strand);
  void abandon_wait(ActiveStrand& strand, const WaitToken& token, TaskStatus task_status);
  // Hands the wakening to the step that waited and makes its strand ready.
  void wake(ActiveStrand& strand, Wakening wakening);
  // Signals and wake-ups that came while the instance was suspended, in the order they came.
  void apply_held();
  // The same when the instance goes on: they come before the strands that could have run, the failed one among them.
  void apply_held_first();

  // Errors and ends.
  void raise(ActiveStrand& strand, Failure failure);
  // Ends the instance as soon as the enclosing `finally` blocks have run. Nothing else of it goes on meanwhile.
  void complete(ActiveStrand& strand, std::optional<Json> output);
  // Goes on with a `complete` that a `finally` has held up.
  void complete_from(ActiveStrand& strand, std::optional<Json> output);
  void end_instance(Status status, Json output, std::optional<Failure> failure);
  void suspend(ActiveStrand* strand, Failure failure);
  // To `on_error`, past every `try`. Without a strand the error is nobody's step.
  void unhandled(ActiveStrand* strand, Failure failure);
  // An operator's wish: past the place where the incident is, with this result.
  Result<void> skip(ActiveStrand& strand, Json result);
  // An operator's wish: nothing runs until it goes on.
  void pause(const std::string& reason);
  void go_on();

  // Compensations (S15): registered by the step that just ended; the newest that `strand` may undo.
  std::optional<Compensation> take_compensation(const ActiveStrand& strand);

  // State.
  Result<void, Failure> write_state(const Step* step, Json state);
  Result<void, Failure> assign(const Step* step, const StatePath& path, Json value);
  // What an expression gave, unless it is larger or deeper than anything that could have come in.
  Result<Json, Failure> bounded(const Step* step, Json value, std::string_view what) const;
  // The same for a text that people and signals find something by.
  Result<Json, Failure> bounded_key(const Step* step, Json key, std::string_view what) const;

  // Steps that ended without waiting since the entry before are named in the details, as `ran`.
  void log(LogEntry::Kind kind, const std::string& step, Json details = {}, int attempt = 1);

 private:
  friend class Turn;

  void wake_held();
  void take_turn(ActiveStrand& strand);
  void begin_step(ActiveStrand& strand, StepIndex index);
  void leave_lane(ActiveStrand& strand, BlockIndex block);
  void end_strand(ActiveStrand& strand);
  void remove_strand(std::uint64_t id);
  void evaluate_start(ActiveStrand& strand);
  void finish_main(ActiveStrand& strand, std::optional<Json> output);
  void leave_one_branch(ActiveStrand& strand);
  void compensate_next(ActiveStrand& strand);
  void begin_compensating(Failure failure);
  void register_compensation(ActiveStrand& strand, const Step& step);
  std::uint64_t branch_of(const ActiveStrand& strand);
  bool checkpoint_cuts();
  Failure too_deep(const Step* step) const;
  Json named(Json details);

  const Program& program_;
  const Setting& setting_;
  Timestamp now_;
  std::string actor_;
  Advance out_;
  ActiveStrands strands_;
  std::vector<std::uint64_t> agenda_;     // the next strand last
  std::vector<std::uint64_t> could_run_;  // what comes after the events of a suspension, in the order of the agenda
  NamesInScope scope_;
  std::int64_t steps_ = 0;  // begun in this slice
  bool worked_ = false;     // a step with an effect of its own has begun in this commit
  bool stopped_ = false;
  std::vector<StepIndex> ran_;  // steps that the next entry of the log names
  std::int64_t ran_more_ = 0;   // how many more there were
  std::string woken_step_;      // the step that was woken last, and since when it had waited
  Timestamp woken_since_;
  int woken_attempt_ = 1;
  std::size_t state_bytes_bound_ = 0;  // the state is at most this long; 0: unknown
};

}  // namespace cairn
