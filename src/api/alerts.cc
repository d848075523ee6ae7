#include "api/alerts.h"

#include "api/filter_text.h"
#include "base/id.h"
#include "base/log.h"
#include "store/projection.h"

namespace cairn::api {
namespace {

constexpr std::int64_t alert_lock_s = 60;
constexpr std::size_t alert_page_rows = 1'000;

// How many instances match, counted up to `most`.
Result<std::size_t> count_matches(InstanceStore& store, const InstanceFilter& filter, std::size_t most) {
  std::size_t count = 0;
  PageRequest page{std::min(most, alert_page_rows), ""};
  do {
    CAIRN_TRY(const auto rows, store.list_instances(filter, page));
    count += rows.items.size();
    page.cursor = rows.next_cursor;
  } while (!page.cursor.empty() && count < most);
  return count;
}

std::optional<Timestamp> time_in(const Json& body, const char* name) {
  const Json& value = body[name];
  if (!value.is_string()) return std::nullopt;
  const auto read = parse_timestamp(std::string(value.as_string()));
  return read ? std::optional(*read) : std::nullopt;
}

}  // namespace

Alerts::~Alerts() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Alerts::serve() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Alerts::changed() {
  const std::scoped_lock lock(mutex_);
  may_exist_ = true;
  changed_.notify_one();
}

// A server that has the store for itself knows of every alert, so it need not look while it has none.
void Alerts::run(const std::stop_token& stop) {
  const bool shared = core_.store().traits().shared;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!shared && !may_exist_) {
      changed_.wait(lock, stop, [this] { return may_exist_; });
    } else {
      changed_.wait_for(lock, stop, every_, [&stop] { return stop.stop_requested(); });
    }
    if (stop.stop_requested()) return;
    may_exist_ = false;
    lock.unlock();
    const bool some = check_if_mine();
    lock.lock();
    may_exist_ = may_exist_ || some;
  }
}

bool Alerts::check_if_mine() {
  const auto any = core_.store().list_documents({alert_kind}, {1, ""});
  if (any && any->items.empty()) return false;
  const auto held = core_.store().hold_lock("alerts", core_.node(), Duration::of_seconds(alert_lock_s));
  if (!held || !*held) return true;
  if (const auto checked = check(); !checked) {
    log_warning("alerts.not_checked", {{"message", checked.error().message}});
  }
  return true;
}

Result<int> Alerts::check() {
  int changes = 0;
  PageRequest page{alert_page_rows, ""};
  do {
    CAIRN_TRY(const auto rows, core_.store().list_documents({alert_kind}, page));
    for (const DocumentRow& row : rows.items) {
      CAIRN_TRY(const bool changed, check(row));
      if (changed) ++changes;
    }
    page.cursor = rows.next_cursor;
  } while (!page.cursor.empty());
  return changes;
}

Result<bool> Alerts::check(const DocumentRow& row) {
  InstanceFilter filter;
  if (const auto read = read_filter(row.body.text_or("filter", ""), filter); !read) return false;
  const Json& given = row.body["more_than"];
  const auto threshold = given.is_integer() ? static_cast<std::size_t>(given.as_integer()) : 0;
  CAIRN_TRY(const std::size_t count, count_matches(core_.store(), filter, threshold + 1));
  const bool exceeds = count > threshold;
  const bool raised = row.body.find("raised_at") != nullptr;
  const auto since = time_in(row.body, "exceeds_since");
  const Timestamp now = core_.store().now();
  DocumentRow next = row;
  std::optional<OutboxEvent> event;
  const auto tell = [&](const char* type) {
    Json data = Json::object({{"alert", row.id},
                              {"name", row.body["name"]},
                              {"filter", row.body["filter"]},
                              {"more_than", static_cast<std::int64_t>(threshold)},
                              {"since", since ? format_timestamp(*since) : format_timestamp(now)}});
    event = OutboxEvent{{new_uuid(now)}, type, "alert/" + row.id, std::move(data)};
  };
  if (exceeds && !raised) {
    Duration lasts;
    if (const std::string_view text = row.body.text_or("for", ""); !text.empty()) {
      lasts = parse_duration(text).value_or(Duration());
    }
    if (!since) next.body.set("exceeds_since", format_timestamp(now));
    if (after(since.value_or(now), lasts) <= now) {
      next.body.set("raised_at", format_timestamp(now));
      tell("cairn.alert.raised");
    }
  } else if (!exceeds && (raised || since)) {
    next.body.erase("raised_at");
    next.body.erase("exceeds_since");
    if (raised) tell("cairn.alert.cleared");
  }
  if (next.body == row.body) return false;
  // A person may have changed the alert meanwhile: then the next check decides.
  CAIRN_TRY(const auto written, core_.store().put_document(next, event));
  return written.has_value() && event.has_value();
}

}  // namespace cairn::api
