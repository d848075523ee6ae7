// Events: incoming ones, and the delivery log of outgoing ones.
#include <charconv>

#include "api/api.h"
#include "api/documents.h"
#include "api/page_answer.h"
#include "api/problem.h"
#include "outbox/cloud_event.h"

namespace cairn::api {
namespace {

// A CloudEvent becomes a signal: its type is the name, its subject the key, its data the payload. Source and id
// identify repeats.
SignalRequest signal_of(const InboundEvent& event, const Actor& actor) {
  SignalRequest signal;
  signal.id = event.unique_id();
  signal.name = event.type;
  signal.key = event.subject;
  signal.payload = event.data;
  signal.actor = actor;
  return signal;
}

void receive(EngineCore& core, const Call& call) {
  std::optional<Duration> ttl;
  if (const std::string_view length = call.request.query_value("ttl"); !length.empty()) {
    const auto given = parse_duration(length);
    if (!given) return call.reply(problem(given.error()));
    ttl = *given;
  }
  auto events =
      read_cloud_events(call.request.headers, call.request.body, core.context().options.limits.event_batch_max);
  if (!events) return call.reply(problem(events.error()));
  std::vector<SignalRequest> signals;
  for (const InboundEvent& event : *events) {
    signals.push_back(signal_of(event, actor_of(call)));
    signals.back().ttl = ttl;
  }
  // Signals stored before an error stay stored: the sender repeats the batch, and those are repeats.
  core.instances().broadcast_all(std::move(signals), [events = std::move(*events), reply = call.reply](
                                                         const Result<std::vector<SignalOutcome>>& outcomes) {
    if (!outcomes) return reply(problem(outcomes.error()));
    Json items = Json::array();
    for (std::size_t i = 0; i < events.size(); ++i) {
      Json item = document((*outcomes)[i]);
      item.set("id", events[i].id);
      item.set("source", events[i].source);
      items.push_back(std::move(item));
    }
    reply(json_response(Json::object({{"items", items}}), 202));
  });
}

void list_events(EngineCore& core, const Call& call) {
  OutboxFilter filter;
  filter.type_prefix = std::string(call.request.query_value("type"));
  filter.subject = std::string(call.request.query_value("subject"));
  if (const std::string_view id = call.request.query_value("instance"); !id.empty()) {
    filter.instance = InstanceId{std::string(id)};
  }
  filter.unpublished = call.request.query_value("unpublished") == "true";
  const auto fetch = [&](const PageRequest& page) { return core.store().list_outbox(filter, page); };
  const auto show = [&core](const OutboxRow& row) {
    Json event = cloud_event(row, core.context().options.event_source);
    event.set("published_at", row.published_at ? Json(format_timestamp(*row.published_at)) : Json());
    return event;
  };
  call.reply(page_answer(call, fetch, show));
}

std::optional<std::int64_t> sequence_of(const Call& call) {
  const std::string_view text = call.at("sequence");
  std::int64_t sequence = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), sequence);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return sequence;
}

Response missing(const Call& call) {
  return problem({ErrorCode::not_found, "no event " + std::string(call.at("sequence"))});
}

void deliveries(EngineCore& core, const Call& call) {
  const auto sequence = sequence_of(call);
  if (!sequence) return call.reply(missing(call));
  const auto log = core.store().list_deliveries(*sequence);
  if (!log) return call.reply(problem(log.error()));
  Json items = Json::array();
  for (const cairn::SinkDelivery& one : *log) {
    items.push_back(Json::object({{"sink", one.sink.empty() ? Json() : Json(one.sink)},
                                  {"attempt", one.attempt},
                                  {"at", format_timestamp(one.at)},
                                  {"delivered", one.delivered},
                                  {"error", one.error.empty() ? Json() : Json(one.error)}}));
  }
  call.reply(json_response(Json::object({{"items", items}, {"next_cursor", nullptr}})));
}

void resend(EngineCore& core, const Call& call) {
  const auto sequence = sequence_of(call);
  if (!sequence) return call.reply(missing(call));
  const auto done = core.store().resend_outbox(*sequence);
  if (!done) return call.reply(problem(done.error()));
  call.reply(*done ? json_response(Json::object({{"sequence", *sequence}, {"resent", true}}), 202) : missing(call));
}

}  // namespace

std::vector<Route> outbox_routes(EngineCore& core) {
  const auto with = [&core](void (*handle)(EngineCore&, const Call&)) {
    return [&core, handle](const Call& call) { handle(core, call); };
  };
  return {
      {"POST",
       "/v1/events",
       Permission::start,
       "receiveEvents",
       "Receive CloudEvents (structured, batched or binary): each becomes a signal, applied at most once",
       with(receive),
       {{"ttl", "how long an event without a matching wait is kept; default: as a definition says, else for ever"}},
       {},
       "application/cloudevents+json, application/cloudevents-batch+json, application/json"},
      {"GET",
       "/v1/outbox",
       Permission::view,
       "listOutbox",
       "List the events of the outbox, oldest first",
       with(list_events),
       {{"type", "only types that begin with this"},
        {"subject", "of one subject"},
        {"instance", "of one instance"},
        {"unpublished", "true: only unpublished events"},
        {"limit", "maximum number of items"},
        {"cursor", "next_cursor of the previous page"}}},
      {"GET", "/v1/outbox/{sequence}/deliveries", Permission::view, "listDeliveries", "The deliveries of one event",
       with(deliveries)},
      {"POST", "/v1/outbox/{sequence}/resend", Permission::operate, "resendEvent",
       "Publish one event again to every sink", with(resend)},
  };
}

}  // namespace cairn::api
