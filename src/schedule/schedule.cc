#include "schedule/schedule.h"

#include "base/json_integer.h"
#include "base/sha256.h"

namespace cairn {
namespace {

constexpr std::size_t name_max = 150;
constexpr std::string_view trigger_mark = "trigger-";
constexpr Duration every_min = Duration::of_seconds(1);

Error wrong(std::string_view member, const std::string& what) {
  return {ErrorCode::invalid, "/" + std::string(member) + ": " + what};
}

// A text member; empty if it is absent.
Result<std::optional<std::string>> text(const Json& spec, std::string_view member) {
  const Json* const value = spec.find(member);
  if (value == nullptr || value->is_null()) return std::optional<std::string>();
  if (!value->is_string()) return wrong(member, "must be a string");
  return std::optional(std::string(value->as_string()));
}

Result<Duration> length(const Json& spec, std::string_view member) {
  CAIRN_TRY(const auto given, text(spec, member));
  if (!given) return Duration();
  const auto parsed = parse_duration(*given);
  if (!parsed) return wrong(member, parsed.error().message);
  if (*parsed > schedule_length_max) return wrong(member, "must be at most 366 days");
  return *parsed;
}

Result<std::optional<Timestamp>> instant(const Json& spec, std::string_view member) {
  CAIRN_TRY(const auto given, text(spec, member));
  if (!given) return std::optional<Timestamp>();
  const auto parsed = parse_timestamp(*given);
  if (!parsed) return wrong(member, parsed.error().message);
  return std::optional(*parsed);
}

Result<void> read_beat(const Json& spec, Schedule& schedule) {
  CAIRN_TRY(const auto cron, text(spec, "cron"));
  CAIRN_TRY(const auto every, text(spec, "every"));
  if (cron.has_value() == every.has_value()) {
    return Error{ErrorCode::invalid, "a schedule needs exactly one of `cron` and `every`"};
  }
  if (cron) {
    auto parsed = parse_cron(*cron);
    if (!parsed) return wrong("cron", parsed.error().message);
    schedule.cron = std::move(*parsed);
  } else {
    const auto parsed = parse_duration(*every);
    if (!parsed) return wrong("every", parsed.error().message);
    if (*parsed < every_min) return wrong("every", "must be at least 1s");
    schedule.every = *parsed;
  }
  return {};
}

Result<Schedule::Start> read_start(const Json& start) {
  Schedule::Start read;
  read.definition = std::string(start.text_or("definition", ""));
  if (read.definition.empty()) return wrong("start/definition", "is required: the definition to start");
  if (const Json& version = start["version"]; version.is_string()) read.version = std::string(version.as_string());
  if (const Json* input = start.find("input")) read.input = *input;
  read.reference = start["reference"];
  if (const Json& declared = start["declared"]; declared.is_integer() && declared.as_integer() >= 0) {
    read.declared = static_cast<std::size_t>(declared.as_integer());
  }
  return read;
}

Result<Schedule::Run> read_run(const Json& run) {
  Schedule::Run read;
  read.type = std::string(run.text_or("type", ""));
  if (read.type.empty()) return wrong("run/type", "is required: the type of the run");
  read.payload = run["payload"];
  const auto priority = integer_of(run, "priority");
  if (!priority) return wrong("run/priority", "must be an integer of 64 bits");
  if (*priority) read.priority = **priority;
  const auto attempts = integer_of(run, "max_attempts");
  if (!attempts || (*attempts && (**attempts < 1 || **attempts > 1000)))
    return wrong("run/max_attempts", "use 1 to 1000");
  if (*attempts) read.attempts_max = static_cast<int>(**attempts);
  return read;
}

}  // namespace

const char* to_string(Schedule::Overlap overlap) {
  switch (overlap) {
    case Schedule::Overlap::skip: return "skip";
    case Schedule::Overlap::queue: return "queue";
    case Schedule::Overlap::allow: return "allow";
    case Schedule::Overlap::cancel_other: return "cancel_other";
  }
  return "skip";
}

std::optional<Schedule::Overlap> overlap_from(std::string_view text) {
  for (const Schedule::Overlap one :
       {Schedule::Overlap::skip, Schedule::Overlap::queue, Schedule::Overlap::allow, Schedule::Overlap::cancel_other}) {
    if (text == to_string(one)) return one;
  }
  return std::nullopt;
}

Result<Schedule> read_schedule(const Json& spec) {
  if (!spec.is_object()) return Error{ErrorCode::invalid, "a schedule must be an object"};
  Schedule schedule;
  CAIRN_TRY_VOID(read_beat(spec, schedule));
  CAIRN_TRY(const auto zone, text(spec, "zone"));
  if (zone) {
    const auto found = TimeZone::find(*zone);
    if (!found) return wrong("zone", "unknown time zone `" + *zone + "`; use a name such as Europe/Berlin");
    schedule.zone_name = *zone;
    schedule.zone = *found;
  }
  CAIRN_TRY(schedule.from, instant(spec, "from"));
  CAIRN_TRY(schedule.until, instant(spec, "until"));
  if (schedule.from && schedule.until && *schedule.until < *schedule.from)
    return wrong("until", "must not be before `from`");
  CAIRN_TRY(const auto overlap, text(spec, "overlap"));
  if (overlap) {
    const auto known = overlap_from(*overlap);
    if (!known) return wrong("overlap", "must be skip, queue, allow or cancel_other");
    schedule.overlap = *known;
  }
  CAIRN_TRY(schedule.catch_up, length(spec, "catch_up"));
  CAIRN_TRY(schedule.jitter, length(spec, "jitter"));
  const Json& start = spec["start"];
  const Json& run = spec["run"];
  if (start.is_object() == run.is_object()) {
    return Error{ErrorCode::invalid, "a schedule needs exactly one of `start` and `run`"};
  }
  if (start.is_object()) {
    CAIRN_TRY(schedule.what, read_start(start));
  } else {
    CAIRN_TRY(schedule.what, read_run(run));
  }
  return schedule;
}

Json write_schedule(const Schedule& schedule) {
  Json spec = Json::object({{"zone", schedule.zone_name},
                            {"overlap", to_string(schedule.overlap)},
                            {"catch_up", format_duration(schedule.catch_up)},
                            {"jitter", format_duration(schedule.jitter)}});
  if (schedule.cron) spec.set("cron", schedule.cron->text);
  if (schedule.every) spec.set("every", format_duration(*schedule.every));
  if (schedule.from) spec.set("from", format_timestamp(*schedule.from));
  if (schedule.until) spec.set("until", format_timestamp(*schedule.until));
  if (const auto* start = std::get_if<Schedule::Start>(&schedule.what)) {
    Json what = Json::object({{"definition", start->definition}});
    if (start->version) what.set("version", *start->version);
    if (start->declared) {
      what.set("declared", static_cast<std::int64_t>(*start->declared));
    } else {
      what.set("input", start->input);
    }
    if (!start->reference.is_null()) what.set("reference", start->reference);
    spec.set("start", std::move(what));
  } else {
    const auto& run = std::get<Schedule::Run>(schedule.what);
    spec.set("run", Json::object({{"type", run.type},
                                  {"payload", run.payload},
                                  {"priority", run.priority},
                                  {"max_attempts", run.attempts_max}}));
  }
  return spec;
}

std::optional<Error> check_schedule_name(std::string_view name) {
  if (name.empty()) return Error{ErrorCode::invalid, "/name: is required"};
  if (name.size() > name_max) return Error{ErrorCode::invalid, "/name: must be at most 150 characters"};
  for (const char c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                      c == '_' || c == '-' || c == ':';
    if (!fits) return Error{ErrorCode::invalid, "/name: may contain letters, digits, `.`, `_`, `-` and `:`"};
  }
  return std::nullopt;
}

std::string firing_id(std::string_view schedule, Timestamp at) {
  return std::string(schedule) + "@" + format_timestamp(at);
}

std::string trigger_id(std::string_view schedule, std::string_view key) {
  return std::string(schedule) + "@" + std::string(trigger_mark) + sha256_hex(std::string(key)).substr(0, 32);
}

std::optional<std::string> schedule_of(std::string_view id) {
  const std::size_t at = id.rfind('@');
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  if (!id.substr(at + 1).starts_with(trigger_mark) && !parse_timestamp(id.substr(at + 1))) return std::nullopt;
  return std::string(id.substr(0, at));
}

}  // namespace cairn
