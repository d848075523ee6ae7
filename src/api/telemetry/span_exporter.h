// Sends spans to a collector (OTLP over HTTP, JSON), in batches from its own thread. A slow or unavailable collector
// costs bounded memory and then spans, but never delays requests. Dropped spans are counted.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "api/telemetry/span.h"
#include "transport/http_client.h"

namespace cairn::api {

struct OtlpSettings {
  std::string endpoint;              // http://collector:4318; /v1/traces is appended if missing
  std::vector<std::string> headers;  // NAME=VALUE
  std::string node;
};

class SpanExporter {
 public:
  static constexpr std::size_t waiting_max = 8'192;
  static constexpr std::size_t batch_max = 512;
  static constexpr std::chrono::milliseconds gather{1'000};  // how long a batch collects spans
  static constexpr std::chrono::milliseconds pause_min{500};
  static constexpr std::chrono::milliseconds pause_max{30'000};

  static constexpr std::chrono::milliseconds flush{2'000};  // at the end

  explicit SpanExporter(OtlpSettings settings);
  // Sends the remaining spans for at most `flush`.
  ~SpanExporter();
  SpanExporter(const SpanExporter&) = delete;
  SpanExporter& operator=(const SpanExporter&) = delete;

  // Callable from any thread; never blocks for long.
  void add(Span span);

  std::uint64_t sent() const { return sent_; }
  std::uint64_t dropped() const { return dropped_; }
  std::uint64_t failures() const { return failures_; }  // requests that the collector did not accept
  std::size_t waiting() const;

 private:
  enum class Posted { taken, refused, again };  // refused: a retry cannot succeed
  void run(const std::stop_token& stop);
  Posted post(const std::vector<Span>& batch);

  const OtlpSettings settings_;
  HttpClient client_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Span> waiting_;
  bool ended_ = false;
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> failures_{0};
  std::jthread thread_;
};

}  // namespace cairn::api
