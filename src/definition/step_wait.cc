#include "definition/step_kinds.h"
#include "definition/step_parts.h"

namespace cairn {
namespace {

constexpr std::string_view wait_kinds[] = {"for", "until"};
const Key wait_keys[] = {
    {"for", Shape::duration, "How long."},
    {"until", Shape::time, "The instant: RFC 3339 text or an expression that gives a time."},
};

const Key wait_step_keys[] = {
    {"wait", Shape::wait, "A durable timer: a duration, or `{until: time}`.", true, std::nullopt, &wait_table},
};

StepBody read_wait(Fields& fields) {
  WaitStep step;
  step.wait = read_wait(fields, "wait");
  return step;
}

}  // namespace

const KeyTable wait_table{"wait", wait_keys, wait_kinds};

WaitSpec read_wait(Fields& outer, std::string_view key) {
  WaitSpec wait;
  const auto at = outer.find(key);
  if (!at) return wait;
  if (at->node().kind != Json::Kind::object || is_expression(at->node())) {
    Json canonical;
    wait.duration = read_duration(outer.site(), *at, canonical);
    outer.put(key, Json::object({{"for", std::move(canonical)}}));
    return wait;
  }
  Fields fields(outer.site(), *at, wait_table);
  wait.duration = fields.duration("for");
  wait.until = fields.time("until");
  outer.put(key, fields.take());
  return wait;
}

const StepKind wait_kind{"wait", "A durable timer.", wait_step_keys, read_wait};

}  // namespace cairn
