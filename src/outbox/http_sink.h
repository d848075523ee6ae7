// Sends events to a web server in one of the three modes of the CloudEvents HTTP binding. Requests are signed if a
// secret is set. Any 2xx response accepts the event; redirects are not followed. Subjects are sent in parallel, the
// events of one subject in sequence, and batches in sequence.
#pragma once

#include <functional>

#include "outbox/sink.h"
#include "transport/http_client.h"

namespace cairn {

struct HttpSinkSettings {
  enum class Mode { structured, binary, batched };
  std::string name;
  std::vector<std::string> types;
  std::string url;
  Mode mode = Mode::structured;
  std::string secret;  // empty: requests are not signed
  std::vector<std::pair<std::string, std::string>> headers;
  std::string source;
  Duration timeout = Duration::of_seconds(10);  // per request
  std::size_t batch_max = 100;                  // events per request
};

class HttpSink final : public Sink {
 public:
  // `client` must outlive the sink. `now` gives the time of each signature.
  HttpSink(HttpSinkSettings settings, HttpClient& client, std::function<Timestamp()> now);
  std::vector<SinkAnswer> deliver(std::span<const OutboxRow> events) override;

 private:
  HttpCall call_of(const OutboxRow& row) const;
  HttpCall call_of(std::span<const OutboxRow> batch) const;
  void finish(HttpCall& call) const;
  std::vector<SinkAnswer> deliver_each(std::span<const OutboxRow> events);
  std::vector<SinkAnswer> deliver_batches(std::span<const OutboxRow> events);

  HttpSinkSettings settings_;
  HttpClient& client_;
  std::function<Timestamp()> now_;
};

}  // namespace cairn
