#include "api/event_feed.h"

#include "base/log.h"
#include "outbox/cloud_event.h"
#include "store/projection.h"

namespace cairn::api {
namespace {

constexpr std::size_t page_rows = 200;
// Events can be large, and a whole page is held in memory.
constexpr std::size_t catch_up_rows = 50;
// A listener that catches up gets its next page after it has read most of the last one.
constexpr std::size_t unread_bytes_max = 256u << 10;
// How much earlier than the oldest open transaction an event must be, so that every event that may still appear comes
// after it. Clocks differ.
constexpr Duration clocks_differ = Duration::of_seconds(5);
constexpr std::chrono::milliseconds look_at_gaps_every{100};

bool wanted(const OutboxRow& row, const OutboxFilter& filter) {
  return row.event.type.starts_with(filter.type_prefix) &&
         (filter.subject.empty() || row.event.subject == filter.subject) &&
         (!filter.instance || row.instance == *filter.instance);
}

}  // namespace

std::string stream_text(const OutboxRow& row, const std::string& source) {
  return "id: " + std::to_string(row.sequence) + "\nevent: cloudevent\ndata: " + write_json(cloud_event(row, source)) +
         "\n\n";
}

EventFeed::~EventFeed() {
  listening_.reset();
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

std::size_t EventFeed::listeners() const {
  const std::scoped_lock lock(mutex_);
  return count_ + newcomers_.size();
}

void EventFeed::subscribe(OutboxFilter filter, std::optional<std::int64_t> after, EventStream stream) {
  std::call_once(begun_, [this] { begin(); });
  const std::scoped_lock lock(mutex_);
  newcomers_.push_back({std::move(filter), after, std::move(stream)});
  changed_.notify_all();
}

// Without the lock: wakeups arrive under the lock of the listeners and take ours.
void EventFeed::begin() {
  listening_ = core_.listeners().listen([this](const Wakeup& wakeup) {
    if (!wakeup.outbox) return;
    const std::scoped_lock lock(mutex_);
    look_ = true;
    changed_.notify_all();
  });
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

// The store cannot return the last sequence, but it answers fast whether one follows N, and sequences only grow.
Result<std::int64_t> EventFeed::newest() {
  const auto any_after = [this](std::int64_t sequence) -> Result<bool> {
    OutboxFilter filter;
    filter.after = sequence;
    CAIRN_TRY(const auto page, core_.store().list_outbox(filter, {1, ""}));
    return !page.items.empty();
  };
  std::int64_t low = 0;
  std::int64_t high = 1;
  for (;;) {
    CAIRN_TRY(const bool more, any_after(high));
    if (!more) break;
    low = high;
    high *= 2;
  }
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    CAIRN_TRY(const bool more, any_after(middle));
    if (more) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// On PostgreSQL a transaction with a lower sequence may commit later. If a sequence is missing, the feed asks the store
// whether it can still appear. If so, it holds back what follows, so that no listener's position skips it.
bool EventFeed::may_appear_before(const OutboxRow& row, std::int64_t last) const {
  return row.sequence != last + 1 && row.sequence > settled_;
}

Result<std::int64_t> EventFeed::newest_complete() {
  CAIRN_TRY(const SettledOutbox settled, core_.store().settled_outbox());
  settled_ = settled.up_to;
  CAIRN_TRY(const std::int64_t last, newest());
  if (last <= settled_) return last;
  // Go back to an event before all open transactions, then forward to the first gap after it.
  const Timestamp now = core_.store().now();
  const Timestamp early =
      after(std::min(settled.open_since.value_or(now), now), Duration::of_ms(-clocks_differ.ms_up()));
  std::int64_t position = last;
  for (std::int64_t back = page_rows; position > 0; back *= 2) {
    position = std::max<std::int64_t>(0, last - back);
    OutboxFilter filter;
    filter.after = position;
    CAIRN_TRY(const auto page, core_.store().list_outbox(filter, {1, ""}));
    if (page.items.empty()) break;
    if (page.items.front().created_at > early) continue;
    position = page.items.front().sequence;
    break;
  }
  position = std::max(position, std::min(settled_, last));
  for (;;) {
    OutboxFilter filter;
    filter.after = position;
    CAIRN_TRY(const auto page, core_.store().list_outbox(filter, {page_rows, ""}));
    for (const OutboxRow& row : page.items) {
      if (row.sequence > last || may_appear_before(row, position)) return position;
      position = row.sequence;
    }
    if (page.items.size() < page_rows) return position;
  }
}

void EventFeed::run(const std::stop_token& stop) {
  bool behind = false;
  bool failed = false;
  bool held = false;
  while (!stop.stop_requested()) {
    std::list<Listener> newcomers;
    {
      std::unique_lock lock(mutex_);
      const auto something = [this] { return look_ || !newcomers_.empty(); };
      if (failed) {
        changed_.wait_for(lock, stop, std::chrono::seconds(1), something);
      } else if (held && !behind) {
        changed_.wait_for(lock, stop, look_at_gaps_every, something);
      } else if (!behind) {
        changed_.wait(lock, stop, something);
      }
      look_ = false;
      for (Newcomer& one : newcomers_) {
        OutboxFilter filter = std::move(one.filter);
        filter.after = one.after.value_or(-1);
        newcomers.push_back({std::move(filter), std::move(one.stream), false});
      }
      newcomers_.clear();
    }
    const auto step = [&]() -> Result<bool> {
      CAIRN_TRY_VOID(admit(std::move(newcomers)));
      CAIRN_TRY(held, read_new());
      return catch_up();
    };
    const auto done = step();
    failed = !done;
    behind = done && *done;
    if (failed) log_warning("events.feed_failed", {{"message", done.error().message}});
    std::erase_if(listeners_, [](const Listener& listener) { return !listener.stream.open(); });
    const std::scoped_lock lock(mutex_);
    count_ = listeners_.size();
  }
  for (const Listener& listener : listeners_) listener.stream.close();
}

Result<void> EventFeed::admit(std::list<Listener> newcomers) {
  if (newcomers.empty()) return {};
  if (listeners_.empty()) {
    const auto at = newest_complete();
    if (!at) {
      for (const Listener& one : newcomers) one.stream.close();  // they reconnect
      return at.error();
    }
    position_ = *at;
  }
  for (Listener& one : newcomers) {
    one.live = one.filter.after < 0 || one.filter.after >= position_;
    if (one.filter.after < 0) one.filter.after = position_;
    listeners_.push_back(std::move(one));
  }
  return {};
}

Result<bool> EventFeed::catch_up() {
  bool behind = false;
  for (Listener& one : listeners_) {
    if (one.live || !one.stream.open()) continue;
    const auto wait_for_client = [this, &one] {
      one.stream.on_drained([this] {
        const std::scoped_lock lock(mutex_);
        look_ = true;
        changed_.notify_all();
      });
    };
    if (one.stream.waiting_bytes() > unread_bytes_max) {
      wait_for_client();
      continue;
    }
    CAIRN_TRY(const auto page, core_.store().list_outbox(one.filter, {catch_up_rows, ""}));
    bool full = false;
    for (const OutboxRow& row : page.items) {
      if (row.sequence > position_) break;  // the live feed sends these
      std::string text = stream_text(row, core_.context().options.event_source);
      full = !one.stream.takes(text.size());
      if (full) break;  // the client must read first
      one.filter.after = row.sequence;
      one.stream.send(std::move(text));
    }
    if (full) {
      wait_for_client();
      continue;
    }
    one.live = page.items.size() < catch_up_rows || page.items.back().sequence >= position_;
    behind = behind || !one.live;
  }
  return behind;
}

Result<bool> EventFeed::read_new() {
  if (listeners_.empty()) return false;
  for (;;) {
    OutboxFilter all;
    all.after = position_;
    CAIRN_TRY(const auto page, core_.store().list_outbox(all, {page_rows, ""}));
    bool read_again = false;
    for (const OutboxRow& row : page.items) {
      if (may_appear_before(row, position_)) {
        CAIRN_TRY(const SettledOutbox settled, core_.store().settled_outbox());
        settled_ = settled.up_to;
        if (row.sequence > settled_) return true;
        read_again = true;  // it may have appeared after this page was read
        break;
      }
      const std::string text = stream_text(row, core_.context().options.event_source);
      for (Listener& one : listeners_) {
        if (!one.live || row.sequence <= one.filter.after || !wanted(row, one.filter)) continue;
        if (one.stream.takes(text.size())) {
          one.stream.send(text);
        } else {
          // The client reads more slowly than events arrive: it catches up after it has read the unsent ones.
          one.live = false;
          one.filter.after = position_;
        }
      }
      position_ = row.sequence;
    }
    if (!read_again && page.items.size() < page_rows) return false;
  }
}

}  // namespace cairn::api
