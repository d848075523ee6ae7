// postgres://user:password@host:port/database?schema=NAME&… in libpq's format, with these parameters of our own:
//   schema       where the tables are (cairn)
//   connections  at most this many besides the listener (8)
//   writers      concurrent commits (2)
//   run_events   on (default), or off: no audit trail of runs is written
//   hints        redis://… or unix:PATH, percent-encoded: a faster channel between nodes (none)
//   clock        server (default), or process: the injected clock, for tests
// libpq handles every other parameter of the query (sslmode, connect_timeout, target_session_attrs, …).
#pragma once

#include <string>

#include "base/result.h"

namespace cairn::postgres {

struct Target {
  std::string conninfo;  // without our parameters, with our default timeouts
  std::string schema = "cairn";
  std::size_t connections = 8;
  std::size_t writers = 2;
  bool run_events = true;
  bool process_clock = false;
  std::string hints;
  std::string shown;  // for messages: without the password
};

bool is_postgres_url(const std::string& url);
// ErrorCode::invalid with the reason.
Result<Target> read_url(const std::string& url);

}  // namespace cairn::postgres
