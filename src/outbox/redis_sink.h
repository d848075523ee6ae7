// Appends events to a Redis stream, pipelined: XADD STREAM [MAXLEN ~ N] * event JSON. Only redis_sink.cc and src/redis
// know hiredis. A build without hiredis returns ErrorCode::unsupported.
#pragma once

#include "base/result.h"
#include "outbox/sink.h"

namespace cairn {

struct RedisSinkSettings {
  std::string name;
  std::vector<std::string> types;
  std::string url;  // redis://[USER:PASSWORD@]HOST[:PORT][/DB] or unix:PATH
  std::string stream = "cairn";
  std::int64_t length_max = 0;  // keeps about this many entries; 0 keeps all
  std::string source;
  Duration timeout = Duration::of_seconds(5);
};

// Connects at the first event, and reconnects after a failure.
Result<std::unique_ptr<Sink>> make_redis_sink(RedisSinkSettings settings);

}  // namespace cairn
