#include "api/telemetry/span_exporter.h"

#include <curl/curl.h>

#include <algorithm>
#include <memory>

#include "base/log.h"

namespace cairn::server {
namespace {

std::size_t ignore(char*, std::size_t size, std::size_t count, void*) { return size * count; }

std::string traces_url(const std::string& endpoint) {
  constexpr std::string_view place = "/v1/traces";
  if (endpoint.ends_with(place)) return endpoint;
  return (endpoint.ends_with('/') ? endpoint.substr(0, endpoint.size() - 1) : endpoint) + std::string(place);
}

}  // namespace

SpanExporter::SpanExporter(OtlpSettings settings)
    : settings_(std::move(settings)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

SpanExporter::~SpanExporter() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
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
  const std::unique_ptr<CURL, void (*)(CURL*)> handle(curl_easy_init(), curl_easy_cleanup);
  if (!handle) return Posted::again;
  const std::string url = traces_url(settings_.endpoint);
  const std::string body = write_json(otlp_document(batch, settings_.node));
  curl_slist* lines = curl_slist_append(nullptr, "content-type: application/json");
  for (const std::string& header : settings_.headers) {
    const std::size_t equals = header.find('=');
    if (equals == std::string::npos) continue;
    lines = curl_slist_append(lines, (header.substr(0, equals) + ": " + header.substr(equals + 1)).c_str());
  }
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> owned(lines, curl_slist_free_all);
  CURL* const curl = handle.get();
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 2L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, 5L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, lines);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
  if (curl_easy_perform(curl) != CURLE_OK) return Posted::again;
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (status >= 200 && status < 300) return Posted::taken;
  // OTLP allows retries for these statuses only.
  return status == 429 || status == 502 || status == 503 || status == 504 ? Posted::again : Posted::refused;
}

}  // namespace cairn::server
