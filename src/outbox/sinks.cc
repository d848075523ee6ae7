#include "outbox/sinks.h"

#include <set>

#include "base/log.h"
#include "outbox/http_sink.h"
#include "outbox/log_sink.h"
#include "outbox/redis_sink.h"
#include "outbox/signature.h"

namespace cairn {
namespace {

Error wrong(const std::string& where, const std::string& what) {
  return {ErrorCode::invalid, "events." + where + ": " + what};
}

Result<std::vector<std::string>> texts(const Json& list, const std::string& where) {
  std::vector<std::string> found;
  if (list.is_null()) return found;
  if (!list.is_array()) return wrong(where, "must be a list of strings");
  for (const Json& item : list.items()) {
    if (!item.is_string()) return wrong(where, "must be a list of strings");
    found.emplace_back(item.as_string());
  }
  return found;
}

Result<std::unique_ptr<Sink>> make_http(const Json& given, HttpSinkSettings settings, const std::string& where,
                                        HttpClient& client, const std::function<Timestamp()>& now) {
  settings.url = std::string(given.text_or("url", ""));
  if (!settings.url.starts_with("https://") && !settings.url.starts_with("http://")) {
    return wrong(where + ".url", "must be an https URL");
  }
  const std::string_view mode = given.text_or("mode", "structured");
  if (mode == "binary") {
    settings.mode = HttpSinkSettings::Mode::binary;
  } else if (mode == "batched") {
    settings.mode = HttpSinkSettings::Mode::batched;
  } else if (mode != "structured") {
    return wrong(where + ".mode", "must be structured, binary or batched");
  }
  settings.secret = std::string(given.text_or("secret", ""));
  if (!settings.secret.empty() && settings.secret.size() < signing_secret_bytes_min) {
    return wrong(where + ".secret", "must have at least 32 characters");
  }
  mask_in_logs(settings.secret);
  if (const Json* headers = given.find("headers"); headers != nullptr && headers->is_object()) {
    for (const auto& [name, value] : headers->members()) {
      if (!value.is_string()) return wrong(where + ".headers", "must contain strings");
      settings.headers.emplace_back(name.str(), std::string(value.as_string()));
    }
  }
  if (given["timeout"].is_string()) {
    const auto timeout = parse_duration(given["timeout"].as_string());
    if (!timeout || timeout->zero()) return wrong(where + ".timeout", "must be a duration such as 10s");
    settings.timeout = *timeout;
  }
  return std::unique_ptr<Sink>(std::make_unique<HttpSink>(std::move(settings), client, now));
}

Result<std::unique_ptr<Sink>> make_redis(const Json& given, RedisSinkSettings settings, const std::string& where) {
  settings.url = std::string(given.text_or("url", "redis://127.0.0.1:6379"));
  settings.stream = std::string(given.text_or("stream", "cairn"));
  if (given["max_length"].is_integer()) settings.length_max = given["max_length"].as_integer();
  auto made = make_redis_sink(std::move(settings));
  if (!made) return wrong(where, made.error().message);
  return made;
}

}  // namespace

Result<EventSettings> read_event_settings(const Json& given) {
  EventSettings settings;
  if (given.is_null()) return settings;
  if (!given.is_object()) return Error{ErrorCode::invalid, "events: must be an object with source, keep and sinks"};
  settings.source = std::string(given.text_or("source", settings.source));
  CAIRN_TRY(const auto kept, texts(given["keep"], "keep"));
  for (const std::string& kind : kept) {
    if (kind == "instances") {
      settings.keep.instances = true;
    } else if (kind == "tasks") {
      settings.keep.tasks = true;
    } else if (kind == "runs") {
      settings.keep.runs = true;
    } else if (kind == "incidents") {
      settings.keep.incidents = true;
    } else {
      return wrong("keep", "`" + kind + "` is unknown; use instances, tasks, runs or incidents");
    }
  }
  settings.sinks = given["sinks"];
  if (!settings.sinks.is_null() && !settings.sinks.is_array()) return wrong("sinks", "must be a list");
  settings.keep.dispatched = settings.sinks.size() > 0;
  return settings;
}

Result<std::vector<std::unique_ptr<Sink>>> make_sinks(const EventSettings& settings, HttpClient& client,
                                                      const std::function<Timestamp()>& now) {
  std::vector<std::unique_ptr<Sink>> sinks;
  if (!settings.sinks.is_array()) return sinks;
  std::set<std::string> names;
  for (std::size_t i = 0; i < settings.sinks.size(); ++i) {
    const Json& given = settings.sinks.items()[i];
    const std::string where = "sinks[" + std::to_string(i) + "]";
    const bool http = given["http"].is_object();
    const bool redis = given["redis"].is_object();
    const bool log = given["log"].is_object();
    if (http + redis + log != 1) return wrong(where, "must have exactly one of http, redis and log");
    const std::string name(given.text_or("name", http ? "http" : redis ? "redis" : "log"));
    if (name.empty() || !names.insert(name).second) return wrong(where + ".name", "must be unique");
    CAIRN_TRY(const auto types, texts(given["types"], where + ".types"));
    if (http) {
      HttpSinkSettings own;
      own.name = name;
      own.types = types;
      own.source = settings.source;
      CAIRN_TRY(auto sink, make_http(given["http"], std::move(own), where + ".http", client, now));
      sinks.push_back(std::move(sink));
    } else if (redis) {
      RedisSinkSettings own;
      own.name = name;
      own.types = types;
      own.source = settings.source;
      CAIRN_TRY(auto sink, make_redis(given["redis"], std::move(own), where + ".redis"));
      sinks.push_back(std::move(sink));
    } else {
      sinks.push_back(std::make_unique<LogSink>(name, types));
    }
  }
  return sinks;
}

}  // namespace cairn
