#include "store/postgres/settled_events.h"

#include <algorithm>

#include "base/log.h"
#include "store/projection.h"

namespace cairn::postgres {

namespace {

constexpr std::size_t marks_max = 256;

}  // namespace

SettledOutbox SettledEvents::ask(Connection& db, Timestamp now) {
  const std::lock_guard lock(mutex_);  // an older answer must not be taken for a newer one
  // In this order: who has taken one of the sequences is still open, or has ended before.
  const std::size_t asked_last = db.send(Sql::last_event);
  const std::size_t asked_writers = db.send(Sql::event_writers);
  db.finish();
  Rows last_row = db.take(asked_last);
  Rows writers = db.take(asked_writers);
  SettledOutbox answer{settled_, std::nullopt};
  if (db.error()) return answer;
  const std::int64_t last = last_row.next() ? last_row.integer(0) : 0;

  std::map<std::string, Timestamp> seen;
  std::set<std::string> open;
  while (writers.next()) {
    const std::string transaction = writers.text(0);
    const auto known = seen_.find(transaction);
    const Timestamp since = known == seen_.end() ? now : known->second;
    if (!seen.emplace(transaction, since).second) continue;
    if (after(since, open_max) <= now) {
      if (after(since, open_max) > asked_at_) {
        log_warning("postgres.events_not_awaited",
                    {{"transaction", transaction},
                     {"reason", "it has written events and is open for too long: event streams may skip them"}});
      }
      continue;
    }
    open.insert(transaction);
    const Timestamp started = writers.time_or_nothing(1).value_or(after(now, Duration::of_ms(-open_max.ms_up())));
    if (!answer.open_since || started < *answer.open_since) answer.open_since = started;
  }
  seen_ = std::move(seen);
  asked_at_ = now;
  if (marks_.size() == marks_max) marks_.pop_back();
  if (marks_.empty() || marks_.back().up_to < last) marks_.push_back({last, open});
  for (Mark& mark : marks_) {
    std::erase_if(mark.open, [&](const std::string& transaction) { return !open.contains(transaction); });
  }
  while (!marks_.empty() && marks_.front().open.empty()) {
    settled_ = std::max(settled_, marks_.front().up_to);
    marks_.pop_front();
  }
  answer.up_to = settled_;
  return answer;
}

}  // namespace cairn::postgres
