// GET /v1/errors: what went wrong, one item for each error at each step, however many instances have it.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "api/api.h"
#include "api/documents.h"
#include "api/filter_text.h"
#include "api/problem.h"
#include "store/error_fingerprint.h"

namespace cairn::api {
namespace {

constexpr std::size_t scanned_max = 20'000;  // of each status, the newest first
constexpr std::size_t retrying_max = 2'000;
constexpr std::size_t groups_max = 200;
constexpr std::size_t error_buckets = 24;
constexpr std::size_t error_page_rows = 1'000;

struct Group {
  std::string fingerprint;
  std::string status;  // suspended, failed, retrying
  std::string definition;
  std::string step;
  std::string code;
  std::string message;  // of the newest
  std::string example;  // the instance that has it
  std::set<std::string> versions = {};
  std::size_t count = 0;
  Timestamp first = Timestamp::of_unix_ms(0);
  Timestamp last = Timestamp::of_unix_ms(0);
  std::optional<Timestamp> next = {};  // the next attempt of any of them
  std::array<std::int64_t, error_buckets> times = {};
};

class Grouping {
 public:
  Grouping(Timestamp now, Duration window) : now_ms_(now.unix_ms()), bucket_ms_(window.ms_up() / error_buckets) {}

  void add(const InstanceRow& row, const std::string& status, Failure failure, Timestamp at,
           std::optional<Timestamp> next = {}) {
    const std::string print = status.substr(0, 1) + error_fingerprint(row.program.name, failure);
    const auto [found, is_new] = groups_.try_emplace(print);
    Group& group = found->second;
    if (is_new || at > group.last) {
      group.fingerprint = print;
      group.status = status;
      group.definition = row.program.name;
      group.step = std::move(failure.step);
      group.code = std::move(failure.code);
      group.message = std::move(failure.message);
      group.example = row.id.value;
      group.last = at;
    }
    if (is_new || at < group.first) group.first = at;
    if (next && (!group.next || *next < *group.next)) group.next = next;
    group.versions.insert(row.program.version);
    ++group.count;
    const std::int64_t age = (now_ms_ - at.unix_ms()) / std::max<std::int64_t>(bucket_ms_, 1);
    if (age < static_cast<std::int64_t>(error_buckets))
      ++group.times[error_buckets - 1 - static_cast<std::size_t>(std::max<std::int64_t>(age, 0))];
  }

  // The most frequent first; what needs a person before what continues by itself or has ended.
  std::vector<Group> sorted() && {
    std::vector<Group> list;
    for (auto& [print, group] : groups_) list.push_back(std::move(group));
    const auto rank = [](const Group& group) {
      return group.status == "suspended" ? 0 : group.status == "retrying" ? 1 : 2;
    };
    std::sort(list.begin(), list.end(), [&rank](const Group& a, const Group& b) {
      return std::tuple(rank(a), b.count, b.last, a.fingerprint) < std::tuple(rank(b), a.count, a.last, b.fingerprint);
    });
    return list;
  }

 private:
  const std::int64_t now_ms_;
  const std::int64_t bucket_ms_;
  std::map<std::string, Group> groups_;
};

// Whether all of them were read.
Result<bool> add_ended(InstanceStore& store, const InstanceFilter& filter, Grouping& groups) {
  PageRequest page{error_page_rows, ""};
  std::size_t scanned = 0;
  do {
    CAIRN_TRY(const auto rows, store.list_instances(filter, page));
    for (const InstanceRow& row : rows.items) {
      ++scanned;
      if (row.error) groups.add(row, to_string(row.status), *row.error, row.changed_at);
    }
    page.cursor = rows.next_cursor;
  } while (!page.cursor.empty() && scanned < scanned_max);
  return page.cursor.empty();
}

Failure failure_of_run(const RunRow& run) {
  Failure failure;
  failure.step = run.step;
  if (run.error.is_object()) {
    failure.code = std::string(run.error.text_or("code", ""));
    failure.message = std::string(run.error.text_or("message", ""));
  }
  if (failure.message.empty()) failure.message = run.last_error;
  return failure;
}

Result<bool> add_retrying(Store& store, const std::string& definition, Grouping& groups) {
  RunFilter filter;
  filter.retrying = true;
  PageRequest page{error_page_rows, ""};
  std::size_t scanned = 0;
  do {
    CAIRN_TRY(const auto rows, store.list_runs(filter, page));
    for (const RunRow& run : rows.items) {
      ++scanned;
      CAIRN_TRY(const auto row, store.find_instance(*run.instance));
      if (!row || row->deleted_at || (row->status != Status::waiting && row->status != Status::running)) continue;
      if (!definition.empty() && row->program.name != definition) continue;
      std::optional<Timestamp> next;
      if (run.status == RunStatus::pending) next = run.run_at;
      groups.add(*row, "retrying", failure_of_run(run), run.updated_at, next);
    }
    page.cursor = rows.next_cursor;
  } while (!page.cursor.empty() && scanned < retrying_max);
  return page.cursor.empty();
}

Json shown(const Group& group) {
  Json versions = Json::array();
  for (const std::string& version : group.versions) versions.push_back(version);
  Json times = Json::array();
  for (const std::int64_t count : group.times) times.push_back(count);
  Json json = Json::object({{"fingerprint", group.fingerprint},
                            {"status", group.status},
                            {"definition", group.definition},
                            {"versions", versions},
                            {"step", group.step},
                            {"code", group.code},
                            {"message", group.message},
                            {"count", static_cast<std::int64_t>(group.count)},
                            {"first_at", format_timestamp(group.first)},
                            {"last_at", format_timestamp(group.last)},
                            {"example", group.example},
                            {"times", times}});
  // Instances that are retried have no stored error, so the filter names the step.
  json.set("filter", group.status == "retrying" ? "status:retrying definition:" + group.definition +
                                                      (group.step.empty() ? "" : " step:\"" + group.step + "\"")
                                                : "error:" + group.fingerprint);
  if (group.next) json.set("next_at", format_timestamp(*group.next));
  return json;
}

void list_errors(EngineCore& core, const Call& call) {
  const std::string_view status = call.request.query_value("status");
  const std::string definition(call.request.query_value("definition"));
  constexpr std::int64_t window_s_usual = 86'400, window_s_min = 60;
  Duration window = Duration::of_seconds(window_s_usual);
  if (const std::string_view text = call.request.query_value("window"); !text.empty()) {
    const auto read = parse_duration(text);
    if (!read || read->ms_up() < window_s_min * 1000) {
      return call.reply(
          problem(400, "parameter", "Invalid query parameter", "`window` must be a period from 1m, such as 24h"));
    }
    window = *read;
  }
  if (!status.empty() && status != "suspended" && status != "failed" && status != "retrying") {
    return call.reply(problem(400, "status", "Unknown status", "use suspended, failed or retrying"));
  }
  Grouping groups(core.store().now(), window);
  bool complete = true;
  for (const Status one : {Status::suspended, Status::failed}) {
    if (!status.empty() && status != to_string(one)) continue;
    InstanceFilter filter;
    filter.status = one;
    filter.definition = definition;
    const auto all = add_ended(core.store(), filter, groups);
    if (!all) return call.reply(problem(all.error()));
    complete = complete && *all;
  }
  if (status.empty() || status == "retrying") {
    const auto all = add_retrying(core.store(), definition, groups);
    if (!all) return call.reply(problem(all.error()));
    complete = complete && *all;
  }
  std::vector<Group> list = std::move(groups).sorted();
  complete = complete && list.size() <= groups_max;
  Json items = Json::array();
  for (std::size_t i = 0; i < std::min(list.size(), groups_max); ++i) items.push_back(shown(list[i]));
  call.reply(
      json_response(Json::object({{"items", items}, {"complete", complete}, {"window", format_duration(window)}})));
}

}  // namespace

std::vector<Route> error_routes(EngineCore& core) {
  EngineCore* const with = &core;
  return {
      {"GET",
       "/v1/errors",
       Permission::view,
       "listErrors",
       "What went wrong: one item for each error at each step, the most frequent first",
       [with](const Call& call) { list_errors(*with, call); },
       {{"status", "suspended, failed or retrying (default: all three)"},
        {"definition", "a name"},
        {"window", "the period that `times` covers in 24 parts (default 24h)"}}},
  };
}

}  // namespace cairn::api
