// Events to a Redis stream: XADD STREAM [MAXLEN ~ N] * event JSON, pipelined. hiredis stays behind this header; a build
// without it answers ErrorCode::unsupported.
#pragma once

#include "base/result.h"
#include "outbox/sink.h"

namespace cairn {

struct RedisSinkSettings {
  std::string name;
  std::vector<std::string> types;
  std::string url;  // redis://[USER:PASSWORD@]HOST[:PORT][/DB] or unix:PATH
  std::string stream = "cairn";
  std::int64_t length_max = 0;  // about so many entries are kept; 0: all
  std::string source;
  Duration timeout = Duration::of_seconds(5);
};

// Connects when the first event comes, and again after a failure.
Result<std::unique_ptr<Sink>> make_redis_sink(RedisSinkSettings settings);

}  // namespace cairn
