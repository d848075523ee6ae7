// Publishes the node's metrics to Redis every few seconds: on the channel `cairn:SCHEMA:metrics`, and for a short time
// under the key `cairn:SCHEMA:metrics:NODE`. While Redis is unavailable only this publication is missing.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"

namespace cairn::api {

class MetricsFanout {
 public:
  // `text` is called from the thread of this object and returns metrics in the Prometheus text format.
  MetricsFanout(std::string url, std::string schema, std::string node, std::function<std::string()> text);
  ~MetricsFanout();

 private:
  void run();

  const std::string url_;
  const std::string channel_;
  const std::string node_;
  const std::function<std::string()> text_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool stopping_ = false;
  std::jthread thread_;
};

}  // namespace cairn::api
