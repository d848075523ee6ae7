// A report that reads the whole store, for several clients at once.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "api/http_types.h"
#include "http/request_threads.h"

namespace cairn::api {

// Makes one report at a time, on a thread of its own with a low priority, so that no other request waits for it. All
// who asked before a report began get it, so many clients cost as much as one. Safe to call from several threads.
class SharedReport {
 public:
  explicit SharedReport(std::function<Response()> make) : make_(std::move(make)) {}

  // Answers `reply` with a report that begins after this call. Returns at once.
  void ask(Reply reply);

 private:
  void make_all();
  // Those whose report begins now; empty: all have one.
  std::vector<Reply> next();

  const std::function<Response()> make_;
  std::mutex mutex_;
  std::vector<Reply> asked_;
  bool busy_ = false;
  std::optional<http::RequestThreads> thread_;  // from the first report on; ends before what it uses
};

}  // namespace cairn::api
