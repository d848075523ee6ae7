// A report that reads the whole store, for several clients at once.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "api/http_types.h"

namespace cairn::api {

// Makes one report at a time. All who asked before a report began get it, so many clients cost as much as one. Safe to
// call from several threads.
class SharedReport {
 public:
  explicit SharedReport(std::function<Response()> make) : make_(std::move(make)) {}

  // Makes the report on this thread. If another thread is making one, returns at once: that thread makes the next one.
  void ask(Reply reply);

 private:
  // Those whose report begins now; empty: all have one.
  std::vector<Reply> next();

  const std::function<Response()> make_;
  std::mutex mutex_;
  std::vector<Reply> asked_;
  bool busy_ = false;
};

}  // namespace cairn::api
