#include "cairn/flow_steps.h"

namespace cairn::flow {
namespace {

// A list entry: {key: value, …}.
class Entry : public Part {
 public:
  Entry() : Part(Json::object()) {}
  Entry& with(std::string_view key, const Part& value) {
    put(key, value);
    return *this;
  }
  Entry& with(std::string_view key, std::string_view text) {
    put(key, Json(text));
    return *this;
  }
};

}  // namespace

Steps::Steps(std::initializer_list<Step> steps) : Steps() {
  for (const Step& step : steps) add(step);
}

Steps& Steps::then(const Step& step) {
  add(step);
  return *this;
}

Set& Set::assign(std::string_view path, const Value& value) {
  add_in("set", "", Entry().with("path", path).with("value", value));
  return *this;
}

Set set(std::initializer_list<Member> assignments) {
  Set step;
  for (const Member& member : assignments) step.assign(member.key, member.value);
  return step;
}

Deadline& Deadline::keep_task_open() {
  put("interrupt", Json(false));
  return *this;
}

Deadline& Deadline::steps(const Steps& steps) {
  put("steps", steps);
  return *this;
}

Task& Task::four_eyes(std::initializer_list<std::string_view> tasks) {
  for (const std::string_view task : tasks) add_in("task", "four_eyes", Document(Json(task)));
  return *this;
}

Task& Task::require(const Condition& guard) {
  add_in("task", "require", guard);
  return *this;
}

Task& Task::remind(const Length& after) {
  add_in("task", "remind", after);
  return *this;
}

Http::Http(const Value& method, const Value& url) : Part(Json::object()) {
  put("method", method);
  put("url", url);
}

Http& Http::headers(const Value& object) {
  put("headers", object);
  return *this;
}

Http& Http::query(const Value& object) {
  put("query", object);
  return *this;
}

Http& Http::body(const Value& value) {
  put("body", value);
  return *this;
}

Http& Http::accept(int status) {
  add_in("accept", "", Value(status));
  return *this;
}

Http& Http::full_response() {
  put("response", Json("full"));
  return *this;
}

Graphql::Graphql(const Value& url, const Value& query) : Part(Json::object()) {
  put("url", url);
  put("query", query);
}

Graphql& Graphql::variables(const Value& object) {
  put("variables", object);
  return *this;
}

Graphql& Graphql::operation(const Value& name) {
  put("operation", name);
  return *this;
}

Graphql& Graphql::headers(const Value& object) {
  put("headers", object);
  return *this;
}

Retry& Retry::attempts(int count) {
  put("attempts", Json(count));
  return *this;
}

Retry& Retry::backoff(const Length& length) {
  put("backoff", length);
  return *this;
}

Retry& Retry::factor(const Value& number) {
  put("factor", number);
  return *this;
}

Retry& Retry::cap(const Length& length) {
  put("cap", length);
  return *this;
}

Retry& Retry::jitter(const Value& share) {
  put("jitter", share);
  return *this;
}

Call& Call::worker(std::string_view type, const Value& payload) {
  return with("call", "worker", Entry().with("type", type).with("payload", payload));
}

If::If(const Condition& condition) {
  put("if", condition);
  put("then", Json::array());
}

Switch& Switch::on(const Condition& condition, const Steps& steps) {
  add_in("switch", "", Entry().with("when", condition).with("steps", steps));
  return *this;
}

Switch& Switch::otherwise(const Steps& steps) {
  add_in("switch", "", Entry().with("default", steps));
  return *this;
}

Parallel& Parallel::branch(std::string_view name, const Steps& steps) {
  add_in("parallel", "branches", Entry().with("name", name).with("steps", steps));
  return *this;
}

First& First::option(const Option& option) {
  add_in("first", "", option);
  return *this;
}

First first(std::initializer_list<Option> options) {
  First step;
  for (const Option& option : options) step.option(option);
  return step;
}

Try& Try::catch_(const Steps& steps) {
  add_in("catch", "", Entry().with("steps", steps));
  return *this;
}

Try& Try::catch_when(const Condition& condition, const Steps& steps) {
  add_in("catch", "", Entry().with("when", condition).with("steps", steps));
  return *this;
}

}  // namespace cairn::flow
