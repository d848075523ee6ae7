#include "outbox/http_sink.h"

#include <charconv>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "base/ascii.h"
#include "outbox/cloud_event.h"
#include "outbox/signature.h"

namespace cairn {
namespace {

constexpr std::size_t in_flight_max = 32;
constexpr std::int64_t retry_after_seconds_max = 3600;

SinkAnswer answer_of(const Result<HttpReply, HttpProblem>& reply) {
  if (!reply) return {SinkAnswer::Kind::failed, reply.error().message, std::nullopt};
  if (reply->status >= 200 && reply->status < 300) return {SinkAnswer::Kind::taken, "", std::nullopt};
  SinkAnswer answer{SinkAnswer::Kind::failed, "the receiver answered " + std::to_string(reply->status), std::nullopt};
  for (const auto& [name, value] : reply->headers) {
    if (name != "retry-after") continue;
    std::int64_t seconds = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), seconds);
    if (read.ec == std::errc() && read.ptr == value.data() + value.size() && seconds >= 0) {
      answer.retry_after = Duration::of_seconds(std::min(seconds, retry_after_seconds_max));
    }
  }
  return answer;
}

// One request, and its answer for the thread that waits.
class Exchange {
 public:
  void put(std::size_t place, SinkAnswer answer) {
    const std::lock_guard lock(mutex_);
    answered_.emplace_back(place, std::move(answer));
    came_.notify_one();
  }
  std::pair<std::size_t, SinkAnswer> take() {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [this] { return !answered_.empty(); });
    auto first = std::move(answered_.front());
    answered_.pop_front();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::pair<std::size_t, SinkAnswer>> answered_;
};

}  // namespace

HttpSink::HttpSink(HttpSinkSettings settings, HttpClient& client, std::function<Timestamp()> now)
    : Sink(settings.name, settings.types), settings_(std::move(settings)), client_(client), now_(std::move(now)) {}

void HttpSink::finish(HttpCall& call) const {
  call.method = "POST";
  call.url = settings_.url;
  call.has_body = true;
  for (const auto& header : settings_.headers) call.headers.push_back(header);
  if (settings_.secret.empty()) return;
  const Timestamp at = now_();
  SignedRequest request{target_of(call.url), {}, call.body};
  for (const auto& header : call.headers) {
    if (is_signed_header(ascii_lower(header.first))) request.headers.push_back(header);
  }
  const std::string signature = sign(settings_.secret, at, request);
  call.headers.emplace_back(timestamp_header, std::to_string(at.seconds));
  call.headers.emplace_back(signature_header, signature);
}

HttpCall HttpSink::call_of(const OutboxRow& row) const {
  HttpCall call;
  if (settings_.mode == HttpSinkSettings::Mode::binary) {
    call.headers = binary_headers(row, settings_.source);
    call.body = write_json(content_of(row).data);
  } else {
    call.headers.emplace_back("content-type", structured_type);
    call.body = write_json(cloud_event(row, settings_.source));
  }
  finish(call);
  return call;
}

HttpCall HttpSink::call_of(std::span<const OutboxRow> batch) const {
  Json events = Json::array();
  for (const OutboxRow& row : batch) events.push_back(cloud_event(row, settings_.source));
  HttpCall call;
  call.headers.emplace_back("content-type", batch_type);
  call.body = write_json(events);
  finish(call);
  return call;
}

std::vector<SinkAnswer> HttpSink::deliver(std::span<const OutboxRow> events) {
  return settings_.mode == HttpSinkSettings::Mode::batched ? deliver_batches(events) : deliver_each(events);
}

std::vector<SinkAnswer> HttpSink::deliver_each(std::span<const OutboxRow> events) {
  std::vector<SinkAnswer> answers(events.size());
  std::map<std::string, std::deque<std::size_t>> lanes;  // events not sent yet, by subject
  std::deque<std::string> ready;                         // subjects without a request in flight
  for (std::size_t i = 0; i < events.size(); ++i) {
    auto& lane = lanes[events[i].event.subject];
    if (lane.empty()) ready.push_back(events[i].event.subject);
    lane.push_back(i);
  }
  const auto exchange = std::make_shared<Exchange>();  // shared with the client's thread
  std::size_t in_flight = 0;
  while (!ready.empty() || in_flight > 0) {
    if (stopping()) ready.clear();
    if (ready.empty() && in_flight == 0) break;  // no answer will come
    while (!ready.empty() && in_flight < in_flight_max) {
      const std::size_t place = lanes[ready.front()].front();
      ready.pop_front();
      ++in_flight;
      client_.send(
          call_of(events[place]), settings_.timeout, {},
          [exchange, place](const Result<HttpReply, HttpProblem>& reply) { exchange->put(place, answer_of(reply)); });
    }
    auto [place, answer] = exchange->take();
    --in_flight;
    auto& lane = lanes[events[place].event.subject];
    lane.pop_front();
    if (answer.kind == SinkAnswer::Kind::taken && !lane.empty()) ready.push_back(events[place].event.subject);
    answers[place] = std::move(answer);
  }
  return answers;
}

std::vector<SinkAnswer> HttpSink::deliver_batches(std::span<const OutboxRow> events) {
  std::vector<SinkAnswer> answers(events.size());
  for (std::size_t begin = 0; begin < events.size() && !stopping(); begin += settings_.batch_max) {
    const std::size_t count = std::min(settings_.batch_max, events.size() - begin);
    const auto exchange = std::make_shared<Exchange>();
    client_.send(call_of(events.subspan(begin, count)), settings_.timeout, {},
                 [exchange](const Result<HttpReply, HttpProblem>& reply) { exchange->put(0, answer_of(reply)); });
    const SinkAnswer answer = exchange->take().second;
    for (std::size_t i = begin; i < begin + count; ++i) answers[i] = answer;
    // The next batch may contain later events of the same subjects.
    if (answer.kind != SinkAnswer::Kind::taken) break;
  }
  return answers;
}

}  // namespace cairn
