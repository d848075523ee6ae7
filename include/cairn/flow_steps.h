// The steps of definitions built in C++, one class per kind.
#pragma once

#include "cairn/flow_values.h"

namespace cairn::flow {

class Step : public Part {
 protected:
  Step() : Part(Json::object()) {}
};

// A list of steps: the root, a branch, a lane.
class Steps : public Part {
 public:
  Steps() : Part(Json::array()) {}
  Steps(std::initializer_list<Step> steps);
  Steps& then(const Step& step);
};

// The keys that every step may have.
template <class Self>
class StepOf : public Step {
 public:
  Self& id(std::string_view name) { return with("id", Json(name)); }
  Self& title(std::string_view text) { return with("title", Json(text)); }
  Self& when(const Condition& condition) { return with("when", condition); }
  Self& compensate(const Steps& steps) { return with("compensate", steps); }

 protected:
  template <class Held>
  Self& with(std::string_view key, const Held& value) {
    this->put(key, value);
    return static_cast<Self&>(*this);
  }
  template <class Held>
  Self& with(std::string_view key, std::string_view inner, const Held& value) {
    this->put_in(key, inner, value);
    return static_cast<Self&>(*this);
  }
};

class Set : public StepOf<Set> {
 public:
  Set() { put("set", Json::array()); }
  Set& assign(std::string_view path, const Value& value);
};
// Assigns values to paths in the state, in this order.
Set set(std::initializer_list<Member> assignments);

class SetReference : public StepOf<SetReference> {
 public:
  explicit SetReference(const Reference& reference) { put("reference", reference); }
};
inline SetReference set_reference(const Reference& reference) { return SetReference(reference); }

class Deadline : public Part {
 public:
  static Deadline after(const Length& length) { return Deadline("after", length); }
  static Deadline at(const Instant& instant) { return Deadline("at", instant); }
  Deadline& keep_task_open();  // the deadline's steps run beside the open task instead of ending it
  Deadline& steps(const Steps& steps);

 private:
  Deadline(std::string_view key, const Part& value) : Part(Json::object()) { put(key, value); }
};

class Task : public StepOf<Task> {
 public:
  explicit Task(std::string_view name) { put_in("task", "name", Json(name)); }
  // The title that users see on the task; `title` names the step in diagrams.
  Task& task_title(const Value& text) { return with("task", "title", text); }
  Task& roles(const Value& texts) { return with("task", "roles", texts); }
  Task& roles(std::initializer_list<Value> texts) { return roles(list(texts)); }
  Task& exclude(const Value& texts) { return with("task", "exclude", texts); }
  Task& exclude(std::initializer_list<Value> texts) { return exclude(list(texts)); }
  // One person completes at most one of these tasks and this one.
  Task& four_eyes(std::initializer_list<std::string_view> tasks);
  Task& payload(const Value& value) { return with("task", "payload", value); }
  Task& form(const Document& json_schema) { return with("task", "form", json_schema); }
  Task& require(const Condition& guard);
  Task& deadline(const Deadline& deadline) { return with("task", "deadline", deadline); }
  Task& priority(const Value& higher_first) { return with("task", "priority", higher_first); }
  Task& due(const Length& after) { return with("task", "due", after); }
  Task& due_at(const Instant& instant) { return with("task", "due", instant); }
  Task& assignee(const Value& person) { return with("task", "assignee", person); }
  Task& remind(const Length& after);
  Task& result(std::string_view path) { return with("task", "result", Json(path)); }
  Task& on_complete(const Steps& steps) { return with("task", "on_complete", steps); }
};
inline Task task(std::string_view name) { return Task(name); }

class Http : public Part {
 public:
  Http(const Value& method, const Value& url);
  Http& headers(const Value& object);
  Http& query(const Value& object);
  Http& body(const Value& value);
  Http& accept(int status);  // a status of 400 or above that is not an error
  Http& full_response();     // the result is {status, headers, body}
};

class Graphql : public Part {
 public:
  Graphql(const Value& url, const Value& query);
  Graphql& variables(const Value& object);
  Graphql& operation(const Value& name);
  Graphql& headers(const Value& object);
};

class Retry : public Part {
 public:
  Retry() : Part(Json::object()) {}
  Retry& attempts(int count);  // includes the first attempt
  Retry& backoff(const Length& length);
  Retry& factor(const Value& number);
  Retry& cap(const Length& length);
  Retry& jitter(const Value& share);
};

class Call : public StepOf<Call> {
 public:
  Call() { put("call", Json::object()); }
  Call& http(const Http& request) { return with("call", "http", request); }
  Call& graphql(const Graphql& request) { return with("call", "graphql", request); }
  Call& worker(std::string_view type, const Value& payload = object());
  // A transport that the server registered under `name`.
  Call& transport(std::string_view name, const Value& request) { return with("call", name, request); }
  Call& timeout(const Length& per_attempt) { return with("call", "timeout", per_attempt); }
  Call& retry(const Retry& policy) { return with("call", "retry", policy); }
  Call& no_retry() { return with("call", "retry", Json("none")); }
  Call& result(std::string_view path) { return with("call", "result", Json(path)); }
  Call& on_failure(const Steps& steps) { return with("call", "on_failure", steps); }
  Call& on_timeout(const Steps& steps) { return with("call", "on_timeout", steps); }
};
inline Call call() { return Call(); }
inline Call call(std::string_view id) { return Call().id(id); }

class If : public StepOf<If> {
 public:
  explicit If(const Condition& condition);
  If& then(const Steps& steps) { return with("then", steps); }
  If& otherwise(const Steps& steps) { return with("else", steps); }
};
inline If if_(const Condition& condition) { return If(condition); }

class Switch : public StepOf<Switch> {
 public:
  Switch() { put("switch", Json::array()); }
  Switch& on(const Condition& condition, const Steps& steps);
  Switch& otherwise(const Steps& steps);  // comes last
};
inline Switch switch_() { return Switch(); }

class Repeat : public StepOf<Repeat> {
 public:
  Repeat& as(std::string_view name) { return with("repeat", "as", Json(name)); }
  Repeat& max(std::int64_t rounds) { return with("repeat", "max", Json(static_cast<long long>(rounds))); }
  Repeat& steps(const Steps& body) { return with("repeat", "steps", body); }

 private:
  friend Repeat for_each(const Value& items);
  friend Repeat while_(const Condition& condition);
  friend Repeat times(const Value& count);
  Repeat(std::string_view key, const Part& value) { put_in("repeat", key, value); }
};
inline Repeat for_each(const Value& items) { return Repeat("for_each", items); }
inline Repeat while_(const Condition& condition) { return Repeat("while", condition); }
inline Repeat times(const Value& count) { return Repeat("times", count); }

class Parallel : public StepOf<Parallel> {
 public:
  Parallel() { put_in("parallel", "branches", Json::array()); }
  Parallel& branch(std::string_view name, const Steps& steps);
  Parallel& join_all() { return with("parallel", "join", Json("all")); }
  Parallel& join_any() { return with("parallel", "join", Json("any")); }
  // One person completes at most one of the tasks in the branches.
  Parallel& four_eyes_all() { return with("parallel", "four_eyes", Json("all")); }
  Parallel& join(int count) { return with("parallel", "join", Json(count)); }
};
inline Parallel parallel() { return Parallel(); }

class Wait : public StepOf<Wait> {
 private:
  friend Wait wait(const Length& length);
  friend Wait wait_until(const Instant& instant);
  Wait(std::string_view key, const Part& value) { put_in("wait", key, value); }
};
inline Wait wait(const Length& length) { return Wait("for", length); }
inline Wait wait_until(const Instant& instant) { return Wait("until", instant); }

class Signal : public StepOf<Signal> {
 public:
  explicit Signal(std::string_view name) { put_in("signal", "name", Json(name)); }
  Signal& key(const Value& value) { return with("signal", "key", value); }
  Signal& where(const Condition& condition) { return with("signal", "where", condition); }
  Signal& result(std::string_view path) { return with("signal", "result", Json(path)); }
  Signal& timeout(const Length& length) { return with("signal", "timeout", length); }
  Signal& on_timeout(const Steps& steps) { return with("signal", "on_timeout", steps); }
};
inline Signal signal(std::string_view name) { return Signal(name); }

// One of the waits of `first`, and the steps that run if it wins.
class Option : public Part {
 public:
  Option(const Signal& signal, const Steps& steps = {}) : Option(static_cast<const Part&>(signal), steps) {}
  Option(const Wait& wait, const Steps& steps = {}) : Option(static_cast<const Part&>(wait), steps) {}
  Option(const Task& task, const Steps& steps = {}) : Option(static_cast<const Part&>(task), steps) {}

 private:
  Option(const Part& wait, const Steps& steps) : Part(wait) { put("steps", steps); }
};

class First : public StepOf<First> {
 public:
  First() { put("first", Json::array()); }
  First& option(const Option& option);
};
First first(std::initializer_list<Option> options);

class Subworkflow : public StepOf<Subworkflow> {
 public:
  explicit Subworkflow(std::string_view name) { put_in("subworkflow", "name", Json(name)); }
  Subworkflow& version(std::string_view exact) { return with("subworkflow", "version", Json(exact)); }
  Subworkflow& input(const Value& value) { return with("subworkflow", "input", value); }
  Subworkflow& reference(const Reference& reference) { return with("subworkflow", "reference", reference); }
  Subworkflow& result(std::string_view path) { return with("subworkflow", "result", Json(path)); }
  Subworkflow& on_failure(const Steps& steps) { return with("subworkflow", "on_failure", steps); }
};
inline Subworkflow subworkflow(std::string_view name) { return Subworkflow(name); }

class ContinueWith : public StepOf<ContinueWith> {
 public:
  explicit ContinueWith(std::string_view name) { put_in("continue_with", "name", Json(name)); }
  ContinueWith& version(std::string_view exact) { return with("continue_with", "version", Json(exact)); }
  ContinueWith& input(const Value& value) { return with("continue_with", "input", value); }
  ContinueWith& reference(const Reference& reference) { return with("continue_with", "reference", reference); }
};
inline ContinueWith continue_with(std::string_view name) { return ContinueWith(name); }

class Emit : public StepOf<Emit> {
 public:
  explicit Emit(const Value& type) { put_in("emit", "type", type); }
  Emit& subject(const Value& text) { return with("emit", "subject", text); }
  Emit& data(const Value& value) { return with("emit", "data", value); }
};
inline Emit emit(const Value& type) { return Emit(type); }

class Try : public StepOf<Try> {
 public:
  explicit Try(const Steps& steps) { put("try", steps); }
  Try& catch_(const Steps& steps);  // handles every error
  Try& catch_when(const Condition& condition, const Steps& steps);
  Try& finally_(const Steps& steps) { return with("finally", steps); }
};
inline Try try_(const Steps& steps) { return Try(steps); }

class Undo : public StepOf<Undo> {
 public:
  Undo() { put("undo", Json::object()); }
};
inline Undo undo() { return Undo(); }

class Fail : public StepOf<Fail> {
 public:
  explicit Fail(std::string_view code) { put_in("fail", "code", Json(code)); }
  Fail& message(const Value& text) { return with("fail", "message", text); }
  Fail& details(const Value& value) { return with("fail", "details", value); }
};
inline Fail fail(std::string_view code) { return Fail(code); }

class Complete : public StepOf<Complete> {
 public:
  Complete() { put("complete", Json::object()); }
  Complete& output(const Value& value) { return with("complete", "output", value); }
};
inline Complete complete() { return Complete(); }

}  // namespace cairn::flow
