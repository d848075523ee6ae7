// Creates sinks from settings: a list of objects with one of `http`, `redis` and `log`, and
//
//   name     unique; appears in the delivery log; default: the kind
//   types    only events whose type begins with one of these
//   http     {url, mode: structured|binary|batched, secret, headers, timeout}
//   redis    {url, stream, max_length}
//   log      {}
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "outbox/sink.h"
#include "store/store.h"
#include "transport/http_client.h"

namespace cairn {

// The operator's settings for events.
struct EventSettings {
  // CloudEvents `source`: the same on every node of one store.
  std::string source = "/cairn";
  EventPolicy keep;  // `keep: [instances, tasks, runs, incidents]`
  Json sinks;        // a list
};
// Reads {source, keep, sinks}; `{}` and null give the defaults.
Result<EventSettings> read_event_settings(const Json& settings);

// `client` must outlive the sinks. ErrorCode::invalid names the sink and its mistake.
Result<std::vector<std::unique_ptr<Sink>>> make_sinks(const EventSettings& settings, HttpClient& client,
                                                      const std::function<Timestamp()>& now);

}  // namespace cairn
