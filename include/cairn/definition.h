// Builds workflow definitions in C++. It is the same language as YAML and gives the same canonical form for every
// construct.
//
//   using namespace cairn::flow;
//   using namespace std::chrono_literals;
//   const auto loan = workflow("loan.approval", "1.0.0")
//       .state({{"amount", cel("input.amount")}})
//       .steps({
//           call("score").http(Http("POST", cel("config.scoring_url"))).timeout(10s).result("score"),
//           if_("state.score.value >= 700").then({set({{"decision", "approved"}})}),
//       })
//       .output({{"decision", cel("state.decision")}});
//   cairn::Result<cairn::Definition> definition = loan.build();
//
// Everything here is a value: parts may be kept, copied and used in several definitions. Only `build` checks. It
// reports all errors at once, with JSON pointers.
#pragma once

#include "cairn/flow_steps.h"
#include "cairn/flow_values.h"
#include "definition/built_definition.h"

namespace cairn {
namespace flow {

class Schedule : public Part {
 public:
  static Schedule cron(std::string_view text);
  static Schedule every(const Length& between);

  Schedule& zone(std::string_view iana_name);
  Schedule& input(const Value& value);
  Schedule& overlap_skip();
  Schedule& overlap_queue();
  Schedule& overlap_allow();
  Schedule& overlap_cancel_other();
  Schedule& catch_up(const Length& back);
  Schedule& jitter(const Length& up_to);

 private:
  Schedule(std::string_view key, const Part& value);
};

// What the definition says about the signals of one name.
class SignalRule : public Part {
 public:
  SignalRule() : Part(Json::object()) {}
  SignalRule& ttl(const Length& kept);  // how long one is kept that no step has taken; without it for ever
  SignalRule& schema(const Document& json_schema);
};

class Workflow : public Part {
 public:
  Workflow(std::string_view name, std::string_view version);

  Workflow& title(std::string_view text);
  Workflow& input(const Document& json_schema);
  Workflow& state_schema(const Document& json_schema);
  Workflow& signal(std::string_view name, const SignalRule& rule);
  Workflow& reference(const Reference& reference);
  Workflow& state(const Value& object);
  Workflow& managers(const Value& roles);
  Workflow& managers(std::initializer_list<Value> roles) { return managers(list(roles)); }
  Workflow& on_error_suspend();
  Workflow& on_error_fail();
  Workflow& on_error_compensate();
  Workflow& checkpoint_wait();
  Workflow& checkpoint_step();
  Workflow& schedule(const Schedule& schedule);
  Workflow& steps(const Steps& steps);
  Workflow& output(const Value& value);

  // The definition, for Engine::deploy, or all its errors, one per line with its JSON pointer.
  Result<Definition> build() const;
  // Only the canonical form.
  Result<Json> canonical() const;
};

inline Workflow workflow(std::string_view name, std::string_view version) { return Workflow(name, version); }

}  // namespace flow
}  // namespace cairn
