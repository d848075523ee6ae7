// postgres://user:password@host:port/database?schema=NAME&… as libpq takes it, and what is ours of it:
//   schema       where the tables are (cairn)
//   connections  at most this many besides the listener (8)
//   writers      commits in flight (2)
//   run_events   on (default), or off: no audit trail of runs is written
//   hints        redis://… or unix:PATH, percent-encoded: where nodes may tell each other sooner (none)
//   clock        server (default), or process: the injected clock, for tests
// Everything else in the query (sslmode, connect_timeout, target_session_attrs, …) is libpq's.
#pragma once

#include <string>

#include "base/result.h"

namespace cairn::postgres {

struct Target {
  std::string conninfo;  // without what is ours, with our defaults for time-outs
  std::string schema = "cairn";
  std::size_t connections = 8;
  std::size_t writers = 2;
  bool run_events = true;
  bool process_clock = false;
  std::string hints;
  std::string shown;  // for messages: without the password
};

bool is_postgres_url(const std::string& url);
// ErrorCode::invalid with what is wrong.
Result<Target> read_url(const std::string& url);

}  // namespace cairn::postgres
