#include "definition/schedules.h"

#include "time/cron.h"
#include "time/time_zone.h"

namespace cairn {
namespace {

constexpr std::string_view beats[] = {"cron", "every"};
constexpr std::string_view overlaps[] = {"skip", "queue", "allow", "cancel_other"};

const Key schedule_keys[] = {
    {"cron", Shape::cron,
     "Minute, hour, day of month, month, day of week, perhaps with seconds before them; or @daily."},
    {"every", Shape::duration_literal, "The time between two starts."},
    {"zone", Shape::label, "The IANA time zone in which `cron` is read.", false, Json("UTC")},
    {"input", Shape::value, "The input of the instances.", false, Json::object()},
    {"overlap", Shape::choice, "What happens when the instance started before still runs.", false, Json("skip"),
     nullptr, overlaps},
    {"catch_up", Shape::duration_literal, "How far back starts that were missed are made up for.", false, Json("PT0S")},
    {"jitter", Shape::duration_literal, "Each start is up to this much later, at random.", false, Json("PT0S")},
};

void read_cron(Fields& fields, ScheduleSpec& schedule) {
  const auto at = fields.find("cron");
  if (!at) return;
  Draft& draft = fields.site().draft;
  if (at->node().kind != Json::Kind::string) {
    draft.error(*at, "`cron` takes text such as `0 8 * * MON-FRI`, not " + describe(at->node()));
    return;
  }
  const std::string_view text = at->node().scalar.as_string();
  auto parsed = parse_cron(text);
  if (!parsed) {
    draft.error(*at, parsed.error().message);
    return;
  }
  fields.put("cron", text);
  schedule.cron = std::move(parsed).value();
}

ScheduleSpec::Overlap overlap_of(std::string_view name) {
  if (name == "queue") return ScheduleSpec::Overlap::queue;
  if (name == "allow") return ScheduleSpec::Overlap::allow;
  if (name == "cancel_other") return ScheduleSpec::Overlap::cancel_other;
  return ScheduleSpec::Overlap::skip;
}

// A stored definition is not rejected for a limit; the longest allowed duration is used.
Duration read_length(Fields& fields, std::string_view name) {
  const Duration length = fields.duration_literal(name).value_or(Duration());
  if (length <= schedule_length_max) return length;
  Draft& draft = fields.site().draft;
  if (!draft.stored) draft.error(*fields.find(name), "`" + std::string(name) + "` is at most 366 days");
  return schedule_length_max;
}

}  // namespace

const KeyTable schedule_table{"schedule", schedule_keys, beats};

std::vector<ScheduleSpec> read_schedules(Fields& document) {
  std::vector<ScheduleSpec> result;
  const auto list = document.list("schedules");
  if (!list) return result;
  Draft& draft = document.site().draft;
  const Scope scope = Scope::schedule(draft.names);
  Json::Array written;
  for (std::size_t i = 0; i < list->node().items.size(); ++i) {
    Fields fields(document.site().with(scope), list->item(i), schedule_table);
    ScheduleSpec schedule;
    read_cron(fields, schedule);
    schedule.every = fields.duration_literal("every");
    if (schedule.every && *schedule.every < Duration::of_seconds(1)) {
      draft.error(*fields.find("every"), "`every` is at least `1s`");
    }
    if (auto zone = fields.text("zone")) {
      if (const auto at = fields.find("zone"); at && !draft.stored && !TimeZone::find(*zone)) {
        draft.error(*at, "there is no time zone `" + *zone + "`; write a name such as `Europe/Berlin`");
      }
      schedule.zone = std::move(*zone);
    }
    schedule.input = fields.value("input").value_or(Template());
    schedule.overlap = overlap_of(fields.choice("overlap").value_or("skip"));
    schedule.catch_up = read_length(fields, "catch_up");
    schedule.jitter = read_length(fields, "jitter");
    result.push_back(std::move(schedule));
    written.push_back(fields.take());
  }
  document.put("schedules", Json(std::move(written)));
  return result;
}

}  // namespace cairn
