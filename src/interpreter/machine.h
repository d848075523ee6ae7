// The machine runs one advance: it holds the strands of an instance, the agenda of strands that can run, and everything
// that the slice has decided so far. The steps (steps.h) use this class and Turn (turn.h).
//
// Nothing here recurses over the definition. Strands are explicit stacks and the agenda selects the next strand, so the
// depth and length of a definition never affect the C++ stack.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instance/event.h"
#include "interpreter/advance.h"
#include "interpreter/names_in_scope.h"
#include "interpreter/strand.h"

namespace cairn {

// The event that wakes a waiting step.
struct Wakening {
  Wait wait;  // the wait that was open; it is closed now
  Json payload;
  std::optional<Failure> failure;
  std::string by;
  Json task_fields;
  int attempt = 1;  // the attempt of a run that succeeded
};

// The name of the visit whose first wait this is (LogEntry): the id of what it waits for, if that has one.
const std::string& visit_named_by(const Wait& wait);

class Machine {
 public:
  // `snapshot` is the instance before the event.
  Machine(const Program& program, const Setting& setting, Snapshot snapshot, const Event& event);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // ErrorCode::corrupt if the snapshot does not fit the program.
  Result<void> load();
  // Creates the main strand of a new instance. `given` is the reference from the caller, if any.
  void begin_instance(const std::optional<Reference>& given, const std::optional<Reference>& inherited);
  // Runs ready strands until all of them rest, the instance ends or is suspended, or a checkpoint cuts the slice.
  void run();
  // Returns the decision. The machine must not be used afterwards.
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
  bool strand_fits() const;  // whether the limit allows one more strand
  void make_ready(ActiveStrand& strand);
  // Cancels everything inside the top step of `strand`. Nothing of it continues, not even `finally`.
  void cancel_children(const ActiveStrand& strand);
  void cancel_all_but(const std::vector<std::uint64_t>& kept);

  // Frames.
  void push_step(ActiveStrand& strand, StepIndex step, Json data);
  void push_block(ActiveStrand& strand, BlockIndex block);
  void pop(ActiveStrand& strand);
  // Removes the frames above `depth`, their waits and the strands inside them.
  void unwind(ActiveStrand& strand, std::size_t depth);
  // Ends the current step of the top block without an error. `result` is for the log.
  void end_step(ActiveStrand& strand, std::string visit, Json result);

  // Waits. The caller fills kind, step, until, name, key and target of `wait`.
  WaitToken open_wait(ActiveStrand& strand, Wait wait);
  const Wait* find_wait(const WaitToken& token) const;
  // The visit that the entries of `step` belong to, if it is the step that the strand is at (LogEntry).
  std::string visit_of(const ActiveStrand& strand, const std::string& step) const;
  // Before a wait of `strand` is closed: the first one that the step opened names its visit, whichever is over first.
  void note_visit(ActiveStrand& strand);
  // Closes a wait that has been woken.
  Wait take_wait(const WaitToken& token);
  // Closes every wait of `strand` because the strand no longer needs it. Their tasks, runs and children are cancelled.
  void abandon_waits(ActiveStrand& strand);
  void abandon_wait(ActiveStrand& strand, const WaitToken& token, TaskStatus task_status);
  // Closes a timer that belongs to no strand: of a kept signal.
  void close_timer(const WaitToken& token);
  // Passes the wakening to the step that waited and makes its strand ready.
  void wake(ActiveStrand& strand, Wakening wakening);
  // Applies the signals and wake-ups that arrived while the instance was suspended, in the order of their arrival.
  void apply_held();
  // The same on resume. They run before the strands that were ready, including the failed one.
  void apply_held_first();

  // Errors and ends.
  void raise(ActiveStrand& strand, Failure failure);
  void raise(ActiveStrand& strand, Failure failure, std::string visit);
  // Ends the instance after the enclosing `finally` blocks have run. Nothing else of the instance continues meanwhile.
  void complete(ActiveStrand& strand, std::optional<Json> output);
  // Continues a `complete` that a `finally` has delayed.
  void complete_from(ActiveStrand& strand, std::optional<Json> output);
  void end_instance(Status status, Json output, std::optional<Failure> failure);
  void suspend(ActiveStrand* strand, Failure failure);
  // Passes the error to `on_error`, bypassing every `try`. Without a strand the error belongs to no step.
  void unhandled(ActiveStrand* strand, Failure failure);
  // On an operator's request: continues after the place of the incident with this result.
  Result<void> skip(ActiveStrand& strand, Json result, const std::string& reason);
  // On an operator's request: nothing runs until the instance is resumed.
  void pause(const std::string& reason);
  // Continues a suspended instance; `details` are for the history.
  void resume_instance(Json details);
  // Whether a call that is retried gets a new idempotency key.
  bool wants_new_keys() const { return new_keys_; }
  void want_new_keys() { new_keys_ = true; }

  // Takes the newest compensation that `strand` may undo (rule S15). A step registers its compensation when it ends.
  std::optional<Compensation> take_compensation(const ActiveStrand& strand);

  // State.
  Result<void, Failure> write_state(const Step* step, Json state);
  Result<void, Failure> assign(const Step* step, const StatePath& path, Json value);
  // A failure if the state would not fit `state_schema`.
  Result<void, Failure> check_schema(const Step* step, const Json& state) const;
  // The value of an expression, unless it is larger or deeper than any input may be.
  Result<Json, Failure> bounded(const Step* step, Json value, std::string_view what) const;
  // The same for a text that finds an instance or a signal.
  Result<Json, Failure> bounded_key(const Step* step, Json key, std::string_view what) const;

  // Steps that ended without waiting since the previous entry are listed in the details, as `ran`.
  void log(LogEntry::Kind kind, const std::string& step, Json details = {}, int attempt = 1, std::string visit = {});

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
  std::vector<std::uint64_t> could_run_;  // strands that run after the events of a suspension, in agenda order
  NamesInScope scope_;
  std::int64_t steps_ = 0;  // started in this slice
  bool worked_ = false;     // a step with an effect has started in this commit
  bool stopped_ = false;
  bool new_keys_ = false;
  std::vector<StepIndex> ran_;  // steps that the next log entry lists
  std::int64_t ran_more_ = 0;   // how many more ran than are listed
  std::string woken_step_;      // the step that was woken last, and since when it had waited
  Timestamp woken_since_;
  int woken_attempt_ = 1;
  std::size_t state_bytes_bound_ = 0;  // an upper bound of the state's length; 0: unknown
};

}  // namespace cairn
