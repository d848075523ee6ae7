#include "api/telemetry/span_exporter.h"

#include <algorithm>

#include "base/log.h"

namespace cairn::api {
namespace {

constexpr Duration post_timeout = Duration::of_seconds(5);

HttpLimits collector_limits() {
  HttpLimits limits;
  limits.connect_timeout = Duration::of_seconds(2);
  return limits;
}

std::string traces_url(const std::string& endpoint) {
  constexpr std::string_view place = "/v1/traces";
  if (endpoint.ends_with(place)) return endpoint;
  return (endpoint.ends_with('/') ? endpoint.substr(0, endpoint.size() - 1) : endpoint) + std::string(place);
}

}  // namespace

SpanExporter::SpanExporter(OtlpSettings settings)
    : settings_(std::move(settings)),
      client_(EgressPolicy::everywhere(), collector_limits()),
      thread_([this](const std::stop_token& stop) {
        run(stop);
        const std::scoped_lock lock(mutex_);
        ended_ = true;
        changed_.notify_all();
      }) {}

SpanExporter::~SpanExporter() {
  thread_.request_stop();
  {
    // A slow collector must not delay the end of the process.
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, flush, [this] { return ended_; });
  }
  client_.stop();
  thread_.join();
}

void SpanExporter::add(Span span) {
  const std::scoped_lock lock(mutex_);
  if (waiting_.size() >= waiting_max) {
    ++dropped_;
    return;
  }
  waiting_.push_back(std::move(span));
  if (waiting_.size() == 1 || waiting_.size() == batch_max) changed_.notify_one();
}

std::size_t SpanExporter::waiting() const {
  const std::scoped_lock lock(mutex_);
  return waiting_.size();
}

void SpanExporter::run(const std::stop_token& stop) {
  std::vector<Span> batch;
  auto pause = pause_min;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [&] { return !waiting_.empty() || !batch.empty(); });
      changed_.wait_for(lock, stop, gather, [&] { return waiting_.size() + batch.size() >= batch_max; });
      while (!waiting_.empty() && batch.size() < batch_max) {
        batch.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
      }
      if (batch.empty()) return;  // stopping, and nothing is left
    }
    const Posted posted = post(batch);
    if (posted == Posted::taken) {
      sent_ += batch.size();
      pause = pause_min;
      batch.clear();
      continue;
    }
    if (failures_++ == 0) log_warning("otlp.not_taken", {{"endpoint", settings_.endpoint}});
    if (posted == Posted::refused || stop.stop_requested()) {
      dropped_ += batch.size();
      batch.clear();
      if (stop.stop_requested()) {
        const std::scoped_lock lock(mutex_);
        dropped_ += waiting_.size();
        return;
      }
      continue;
    }
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, pause, [] { return false; });
    pause = std::min(pause * 2, pause_max);
  }
}

SpanExporter::Posted SpanExporter::post(const std::vector<Span>& batch) {
  HttpCall call;
  call.method = "POST";
  call.url = traces_url(settings_.endpoint);
  call.headers = {{"content-type", "application/json"}};
  for (const std::string& header : settings_.headers) {
    const std::size_t equals = header.find('=');
    if (equals != std::string::npos) call.headers.emplace_back(header.substr(0, equals), header.substr(equals + 1));
  }
  call.body = write_json(otlp_document(batch, settings_.node));
  call.has_body = true;
  const auto reply = client_.send_and_wait(call, post_timeout);
  if (!reply) return Posted::again;
  if (reply->status >= 200 && reply->status < 300) return Posted::taken;
  // OTLP allows retries for these statuses only.
  const bool again = reply->status == 429 || reply->status == 502 || reply->status == 503 || reply->status == 504;
  return again ? Posted::again : Posted::refused;
}

}  // namespace cairn::api
