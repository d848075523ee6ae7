#include <algorithm>

#include "definition/names.h"
#include "definition/requests.h"
#include "definition/step_kinds.h"
#include "definition/step_parts.h"

namespace cairn {
namespace {

const Key retry_keys[] = {
    {"attempts",
     Shape::integer,
     "How often it is tried, the first time included.",
     false,
     Json(3),
     nullptr,
     {},
     Range{1, 1e6}},
    {"backoff", Shape::duration_literal, "The delay before the second attempt.", false, Json("PT1S")},
    {"factor",
     Shape::number,
     "What each delay is multiplied by for the next.",
     false,
     Json(2),
     nullptr,
     {},
     Range{1, 1000}},
    {"cap", Shape::duration_literal, "No delay is longer.", false, Json("PT5M")},
    {"jitter",
     Shape::number,
     "How much of a delay is added at random, 0 to 1.",
     false,
     Json(0.5),
     nullptr,
     {},
     Range{0, 1}},
};
const KeyTable retry_table{"retry", retry_keys};

const Key call_keys[] = {
    {"http", Shape::object, "An HTTP request.", false, std::nullopt, &http_table},
    {"graphql", Shape::object, "A GraphQL request.", false, std::nullopt, &graphql_table},
    {"worker", Shape::object, "Work for the workers that lease this type.", false, std::nullopt, &worker_table},
    {"timeout", Shape::duration, "How long one attempt may take."},
    {"retry", Shape::retry, "How it is retried; `none` tries once.", false, std::nullopt, &retry_table},
    {"result", Shape::path, "Where in state the response goes."},
    {"on_failure", Shape::steps, "Handles the error when no attempt is left."},
    {"on_timeout", Shape::steps, "Handles a timeout when no attempt is left."},
};
constexpr std::string_view built_in[] = {"http", "graphql", "worker"};
const KeyTable call_table{"call", call_keys, built_in};

const Key call_step_keys[] = {
    {"call", Shape::object, "An external call, made outside any transaction.", true, std::nullopt, &call_table},
};

// A key of the call that names a registered transport, or nullptr.
const SourceMember* further_transport(const Draft& draft, const SourceNode& call) {
  for (const SourceMember& member : call.members) {
    if (call_table.find(member.key) != nullptr) continue;
    const bool known =
        std::find(draft.transports.begin(), draft.transports.end(), member.key) != draft.transports.end();
    if (known || (draft.stored && is_plain_name(member.key))) return &member;
  }
  return nullptr;
}

RetryPolicy read_retry(Fields& call) {
  RetryPolicy policy;
  const auto at = call.find("retry");
  static const SourceNode defaults = source_of(Json::object());
  static const SourceNode once = source_of(Json::object({{"attempts", 1}}));
  const bool none = at && at->node().kind == Json::Kind::string && at->node().scalar.as_string() == "none";
  if (at && !none && at->node().kind == Json::Kind::string) {
    call.site().draft.error(
        *at, "`retry` is `none` or an object such as `{attempts: 5, backoff: 1s}`, not " + describe(at->node()));
    return policy;
  }
  Fields fields(call.site(), none ? Cursor(once) : at ? *at : Cursor(defaults), retry_table);
  policy.attempts = static_cast<int>(fields.integer("attempts").value_or(policy.attempts));
  policy.backoff = fields.duration_literal("backoff").value_or(policy.backoff);
  policy.factor = fields.number("factor").value_or(policy.factor);
  policy.cap = fields.duration_literal("cap").value_or(policy.cap);
  policy.jitter = fields.number("jitter").value_or(policy.jitter);
  call.put("retry", fields.take());
  return policy;
}

StepBody read_call(Fields& outer) {
  CallStep step;
  const auto at = outer.find("call");
  if (!at) return step;

  const Site& site = outer.site();
  const SourceMember* further =
      at->node().kind == Json::Kind::object ? further_transport(site.draft, at->node()) : nullptr;
  const std::string_view choices[] = {"http", "graphql", "worker",
                                      further != nullptr ? std::string_view(further->key) : ""};
  KeyTable table = call_table;
  if (further != nullptr) {
    table.one_of = choices;
    table.elsewhere = std::span(choices).last(1);
  }

  Fields fields(site, *at, table);
  const std::string_view chosen = fields.chosen();
  step.transport = chosen;
  if (further != nullptr) {
    Json canonical;
    step.request = read_value(site, at->member(*further), Expect::anything, true, canonical);
    fields.put(further->key, std::move(canonical));
  }
  if (const auto request = fields.find("http")) read_http(fields, *request, step);
  if (const auto request = fields.find("graphql")) read_graphql(fields, *request, step);
  if (const auto request = fields.find("worker")) read_worker(fields, *request, step);

  step.timeout = fields.duration("timeout");
  if (!step.timeout && (chosen == "http" || chosen == "graphql")) {
    step.timeout = DurationTemplate{Duration::of_seconds(30), {}};
    fields.put("timeout", "PT30S");
  }
  step.retry = read_retry(fields);
  step.result = read_result(fields);
  step.on_failure = fields.steps("on_failure", "on_failure", site.scope.with_error());
  step.on_timeout = fields.steps("on_timeout", "on_timeout");
  if (const auto lane = fields.find("on_timeout"); lane && !step.timeout && has_steps(site.draft, step.on_timeout)) {
    site.draft.findings.warning(lane->key_at(), lane->pointer(),
                                "`on_timeout` never runs, because the call has no `timeout`");
  }
  outer.put("call", fields.take());
  return step;
}

}  // namespace

std::optional<StatePath> read_result(Fields& fields) {
  std::optional<StatePath> path = fields.path("result");
  if (path) {
    const auto at = fields.find("result");
    fields.site().draft.results.push_back({*path, at->at(), at->pointer()});
  }
  return path;
}

const StepKind call_kind{"call", "An external call: the intent is committed first, then the call is made.",
                         call_step_keys, read_call};

}  // namespace cairn
