// The cost of single operations in a store that already holds many instances: of twenty, sixteen have ended, two wait
// for a signal, one for a timer and one for a person. A store given by its URL is filled up to the plan's number once
// and kept.
#include <atomic>
#include <charconv>
#include <latch>
#include <mutex>
#include <random>
#include <unordered_set>

#include "engine/core.h"
#include "workloads/definitions.h"
#include "workloads/rows.h"

namespace cairn::bench {

namespace {

constexpr std::string_view ended = R"(
cairn: 1
name: ended
version: 1.0.0
steps:
  - set: { seen: = input.order }
output: = state.seen
)";

enum class Sort { finished, signal, timer, task };
Sort sort_of(std::size_t number) {
  switch (number % 20) {
    case 0:
    case 10: return Sort::signal;
    case 5: return Sort::timer;
    case 15: return Sort::task;
    default: return Sort::finished;
  }
}

// Each instance is found by its number.
std::string key_of(std::size_t number) { return "R-" + std::to_string(number); }

StartRequest request_of(std::size_t number, Sort sort) {
  StartRequest request;
  request.definition = sort == Sort::signal  ? "one-wait"
                       : sort == Sort::timer ? "one-timer"
                       : sort == Sort::task  ? "one-task"
                                             : "ended";
  request.input = Json::object({{"order", "O-2026-004711"}, {"at", "2126-01-01T00:00:00Z"}});
  request.reference = Reference{Json(key_of(number)), Json::object()};
  return request;
}

// How many exist already: the newest ones contain their numbers.
Result<std::size_t> count_of(Engine& engine) {
  CAIRN_TRY(const auto page, engine.store().list_instances({}, {512, ""}));
  std::size_t count = 0;
  for (const InstanceRow& row : page.items) {
    const std::string key = row.reference.key.is_string() ? std::string(row.reference.key.as_string()) : "";
    std::size_t number = 0;
    if (key.starts_with("R-") && std::from_chars(key.data() + 2, key.data() + key.size(), number).ec == std::errc()) {
      count = std::max(count, number + 1);
    }
  }
  return count;
}

Result<void> fill(const Plan& plan, Engine& engine, std::size_t from, std::size_t to) {
  constexpr int lanes = 256;
  std::atomic<std::size_t> next = from;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  std::optional<Error> error;
  std::latch over(lanes);
  const std::function<void()> go = [&] {
    const std::size_t number = next++;
    if (number >= to || failed) return over.count_down();
    if (number % 100'000 == 0) plan.progress("scale, " + std::to_string(number) + " instances");
    engine.start(request_of(number, sort_of(number)), [&](Result<InstanceAnswer> begun) {
      if (!begun) {
        const std::lock_guard lock(mutex);
        error = begun.error();
        failed = true;
      }
      go();
    });
  };
  for (int lane = 0; lane < lanes; ++lane) go();
  over.wait();
  if (error) return *error;
  return {};
}

class Measured {
 public:
  explicit Measured(std::size_t instances) : instances_(instances) {}
  // The median of the plan's repeats of this many operations.
  Result<void> add(const Plan& plan, const char* operation, std::size_t count, int outstanding,
                   const std::function<Result<void>(std::size_t)>& op) {
    CAIRN_TRY(Row row, median_of(plan, [&] { return each_once(count, outstanding, op); }));
    row.workload = "scale";
    row.variant = operation;
    row.extra.set("instances", static_cast<std::int64_t>(instances_));
    rows_.push_back(std::move(row));
    return {};
  }
  std::vector<Row> take() { return std::move(rows_); }

 private:
  std::size_t instances_;
  std::vector<Row> rows_;
};

Result<std::optional<InstanceRow>> by_number(Engine& engine, std::size_t number) {
  InstanceFilter filter;
  filter.reference_key = key_of(number);
  CAIRN_TRY(auto page, engine.store().list_instances(filter, {1, ""}));
  if (page.items.empty()) return std::optional<InstanceRow>();
  return std::optional(std::move(page.items.front()));
}

Result<void> expect_rows(std::size_t found, std::size_t least) {
  if (found >= least) return {};
  return Error{ErrorCode::internal, "a page has " + std::to_string(found) + " rows, not " + std::to_string(least)};
}

}  // namespace

Result<std::vector<Row>> run_scale(const Plan& plan) {
  const std::array definitions = {ended, one_wait, one_timer, one_task};
  CAIRN_TRY(Stage stage, Stage::open(plan, definitions));
  Engine& engine = *stage.engine;
  Store& store = engine.store();
  engine.run();
  CAIRN_TRY(const std::size_t present, count_of(engine));
  CAIRN_TRY_VOID(fill(plan, engine, present, plan.instances));
  plan.progress("scale, measuring with " + std::to_string(plan.instances) + " instances");

  Measured measured(plan.instances);
  const std::size_t changes = plan.scaled(2000), reads = plan.scaled(500);
  constexpr std::size_t page_size = 50;
  constexpr int in_flight = 64;
  std::atomic<std::size_t> number = std::max(present, plan.instances);
  std::mutex mutex;
  std::vector<InstanceId> recent;
  CAIRN_TRY_VOID(measured.add(plan, "start", changes, in_flight, [&](std::size_t) -> Result<void> {
    CAIRN_TRY(const InstanceAnswer begun, engine.start(request_of(number++, Sort::signal)));
    const std::lock_guard lock(mutex);
    recent.push_back(begun.instance);
    return {};
  }));
  const Json answer = Json::object({{"ok", true}});
  const std::size_t signals = std::max<std::size_t>(1, changes / 2);
  const auto signal_each = [&](const char* operation, const std::vector<InstanceId>& instances) {
    auto next = std::make_shared<std::atomic<std::size_t>>(0);
    return measured.add(plan, operation, signals, in_flight, [&, next](std::size_t) -> Result<void> {
      CAIRN_TRY(const InstanceAnswer after, engine.signal(instances[(*next)++], "go", answer));
      return expect(after.status, Status::completed);
    });
  };
  CAIRN_TRY_VOID(signal_each("signal to one started just now", recent));

  // Random positions, so that their pages are as old as the store.
  std::minstd_rand random(static_cast<unsigned>(number.load()));
  const std::size_t wanted = signals * static_cast<std::size_t>(plan.repeats);
  std::vector<InstanceId> anywhere;
  std::unordered_set<std::string> chosen;
  for (std::size_t tries = 0; anywhere.size() < wanted; ++tries) {
    if (tries > 1000 * wanted) return Error{ErrorCode::internal, "too few instances wait for a signal"};
    const std::size_t any = random() % number.load();
    // The first ones are of every kind; those that `start` above created all wait.
    CAIRN_TRY(const auto row, by_number(engine, any < plan.instances ? any / 10 * 10 : any));
    if (!row || row->status != Status::waiting || row->program.name != "one-wait") continue;
    if (chosen.insert(row->id.value).second) anywhere.push_back(row->id);
  }
  CAIRN_TRY_VOID(signal_each("signal to one anywhere", anywhere));

  CAIRN_TRY_VOID(measured.add(plan, "find by reference", reads, 1, [&](std::size_t) -> Result<void> {
    CAIRN_TRY(const auto row, by_number(engine, random() % number.load()));
    return {};
  }));
  const auto list = [&](const char* operation, const InstanceFilter& filter, std::size_t least) {
    return measured.add(plan, operation, reads, 1, [&](std::size_t) -> Result<void> {
      CAIRN_TRY(const auto page, store.list_instances(filter, {page_size, ""}));
      return expect_rows(page.items.size(), least);
    });
  };
  InstanceFilter by_status;
  by_status.status = Status::waiting;
  CAIRN_TRY_VOID(list("list by status", by_status, page_size));
  InstanceFilter by_definition;
  by_definition.definition = "one-task";
  by_definition.status = Status::waiting;
  CAIRN_TRY_VOID(list("list by definition and status", by_definition, 1));
  InstanceFilter in_trouble;
  in_trouble.status = Status::failed;
  CAIRN_TRY_VOID(list("list failed ones (there are none)", in_trouble, 0));

  TaskFilter inbox;
  inbox.roles = {"clerk"};
  CAIRN_TRY_VOID(measured.add(plan, "task inbox", reads, 1, [&](std::size_t) -> Result<void> {
    CAIRN_TRY(const auto page, store.list_tasks(inbox, {page_size, ""}));
    return expect_rows(page.items.size(), 1);
  }));

  // The oldest ended instances, twenty per transaction.
  RetentionRequest slice;
  slice.statuses = {Status::completed};
  slice.ended_before = store.now();
  slice.max = 20;
  CAIRN_TRY_VOID(measured.add(plan, "retention of 20", plan.scaled(10), 1, [&](std::size_t) -> Result<void> {
    CAIRN_TRY(const RetentionOutcome outcome, store.retire_instances(slice));
    return expect_rows(outcome.instances, slice.max);
  }));
  return measured.take();
}

}  // namespace cairn::bench
