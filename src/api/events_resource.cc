#include <charconv>

#include "api/api.h"
#include "api/event_feed.h"
#include "api/problem.h"

namespace cairn::api {
namespace {

// The start position: the header of a reconnecting client, or the parameter. Empty: from now on.
Result<std::optional<std::int64_t>> position_of(const Call& call) {
  std::string_view text = call.request.header("last-event-id");
  if (text.empty()) text = call.request.query_value("after");
  if (text.empty()) return std::optional<std::int64_t>();
  std::int64_t position = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), position);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || position < 0) {
    return Error{ErrorCode::invalid, "Last-Event-ID must be the id of an event of this stream, a number"};
  }
  return std::optional(position);
}

void stream_events(EventFeed& feed, const Call& call) {
  const auto position = position_of(call);
  if (!position) {
    call.reply(problem(400, "position", "Invalid stream position", position.error().message));
    return;
  }
  OutboxFilter filter;
  filter.type_prefix = std::string(call.request.query_value("type"));
  filter.subject = std::string(call.request.query_value("subject"));
  if (const std::string_view instance = call.request.query_value("instance"); !instance.empty()) {
    filter.instance = InstanceId{std::string(instance)};
  }
  Response response(200, "text/event-stream", {{"x-accel-buffering", "no"}}, "");
  response.stream = [&feed, filter, after = *position](const EventStream& stream) {
    feed.subscribe(filter, after, stream);
  };
  call.reply(std::move(response));
}

}  // namespace

std::vector<Route> event_routes(EngineCore& core) {
  const auto feed = std::make_shared<EventFeed>(core);  // lives as long as the route
  return {{"GET",
           "/v1/events",
           Permission::view,
           "streamEvents",
           "Live events: server-sent CloudEvents",
           [feed](const Call& call) { stream_events(*feed, call); },
           {{"type", "only types that begin with this"},
            {"subject", "only this subject"},
            {"instance", "only events of this instance"},
            {"after", "continue after this event, like Last-Event-ID"}}}};
}

}  // namespace cairn::api
