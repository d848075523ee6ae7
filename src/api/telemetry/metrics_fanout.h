// Every few seconds a node's figures over Redis: published on `cairn:SCHEMA:metrics` for whoever listens, and kept for
// a short time under `cairn:SCHEMA:metrics:NODE` for whoever asks. While Redis is away nobody gets them, and nothing
// else.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"

namespace cairn::server {

class MetricsFanout {
 public:
  // `text` is called from the thread of this object: figures in the text format of Prometheus.
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

}  // namespace cairn::server
