// Signals, messages and timers: everything that is delivered to instances.
#include <algorithm>

#include "base/log.h"
#include "store/postgres/cluster/channel.h"
#include "store/postgres/commit/signal_locks.h"
#include "store/postgres/wire/row_reading.h"
#include "store/postgres/wire/transaction.h"
#include "store/projection.h"
#include "store/report_dead_letter.h"
#include "store/stored_json.h"

namespace cairn {

using postgres::Column;
using postgres::key_text;
using postgres::Rows;
using postgres::Sql;
using postgres::text_or_null;

namespace {

// Each node first takes its own share of due items, so that not all nodes process the same ones. After this time any
// node may take an item.
constexpr Duration patience = Duration::of_seconds(1);
constexpr Duration patience_back = Duration::of_seconds(-1);
constexpr std::int64_t looked_ahead = 32;

DeadLetter unread(const Rows& row, const char* reason) {
  DeadLetter letter;
  if (!row.is_null(1)) letter.instance = InstanceId{row.text(1)};
  letter.kind = "message";
  letter.envelope = Json::object({{"kind", row.text(2)}, {"unreadable", row.text(3)}, {"message", row.integer(0)}});
  letter.reason = reason;
  letter.node = "store";  // found while reading the queue, not by a particular node
  return letter;
}

// A program may end a run with a value that cannot be read (docs/operations/postgresql.md). The instance gets a failure
// instead: it must not wait for ever. Nothing if the message cannot be read at all.
std::optional<Message> readable_run_end(postgres::Connection& db, Message message, const Error& why) {
  Rows rows = db.query(Sql::unreadable_run_end, message.id);
  if (!rows.next() || rows.is_null(0)) return std::nullopt;
  Json failure = rows.json(1);
  if (rows.fault()) return std::nullopt;
  if (failure.is_null()) {
    failure = to_json(Failure{FailureClass::transport, "unreadable",
                              "the result of the run cannot be read: " + why.message, Json(), 1, "", ""});
  } else {
    failure.set("details", Json::object({{"unreadable", why.message}}));
  }
  message.body = Json::object({{"token", rows.text(0)}, {"result", Json()}, {"failure", std::move(failure)}});
  return message;
}

}  // namespace

void PostgresStore::send(Connection& db, const Message& message, Wakeup& wakeup) {
  Rows target = db.query(Sql::instance_number, message.target.value);
  if (db.error()) return;
  if (!target.next()) {
    DeadLetter letter;
    letter.instance = message.target;
    letter.kind = "message";
    letter.envelope = Json::object({{"kind", to_string(message.kind)}, {"body", message.body}});
    letter.reason = "there is no such instance";
    letter.node = made_by_store;  // found during routing, not by a particular node
    insert_dead_letter(db, letter, wakeup);
    return;
  }
  const bool signal = message.kind == Message::Kind::signal;
  db.send(Sql::insert_message, target.integer(0), to_string(message.kind),
          signal ? text_or_null(std::string(message.body.text_or("name", ""))) : std::nullopt,
          signal ? key_text(message.body["key"]) : std::nullopt, write_json(message.body), now());
  wakeup.messages = true;
}

// The caller holds the locks of the signal.
SignalOutcome PostgresStore::route(Connection& db, const CorrelatedSignal& signal, Wakeup& wakeup) {
  SignalOutcome outcome;
  const Timestamp at = now();
  const auto key = key_text(signal.key);
  std::vector<std::int64_t> numbers;
  Rows waiting = db.query(Sql::signal_waits, signal.name, key, signal.id);
  while (waiting.next()) {
    outcome.delivered.push_back({waiting.text(0)});
    numbers.push_back(waiting.integer(1));
  }
  const bool alone = numbers.size() == 1;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    db.send(Sql::insert_message, numbers[i], "signal", text_or_null(signal.name), key,
            write_json(message_of(signal, outcome.delivered[i], alone).body), at);
    wakeup.messages = true;
  }
  if (outcome.delivered.empty() && !db.error()) {
    std::optional<Timestamp> until;
    if (signal.ttl) until = after(at, *signal.ttl);
    db.send(Sql::keep_signal, signal.name, key, write_json(message_of(signal, {}, true).body), at, until);
    if (until && (!wakeup.due || *until < *wakeup.due)) wakeup.due = until;
    outcome.kept = true;
  }
  return outcome;
}

namespace {

// Checks the limits; the signal is already among the kept ones.
std::optional<Error> refused_keeping(postgres::Connection& db, const CorrelatedSignal& signal) {
  const auto most = [](std::size_t max) { return static_cast<std::int64_t>(max) + 1; };
  const auto key = key_text(signal.key);
  Rows of_key = key ? db.query(Sql::count_kept, signal.name, *key, most(signal.kept_per_key_max))
                    : db.query(Sql::count_kept_without_key, signal.name, most(signal.kept_per_key_max));
  if (of_key.next() && of_key.integer(0) >= most(signal.kept_per_key_max)) return too_many_kept(signal, true);
  if (signal.kept_total_max == 0) return std::nullopt;
  Rows all = db.query(Sql::count_all_kept, most(signal.kept_total_max));
  if (all.next() && all.integer(0) >= most(signal.kept_total_max)) return too_many_kept(signal, false);
  return std::nullopt;
}

}  // namespace

Result<SignalOutcome> PostgresStore::record_signal(const CorrelatedSignal& signal) {
  Wakeup wakeup;
  auto recorded = write<SignalOutcome>([&](Connection& db) -> Result<SignalOutcome> {
    wakeup = {};
    if (signal.remember && db.query(Sql::remember_signal, signal.id, now()).changed() == 0) {
      SignalOutcome repeated;
      repeated.duplicate = true;
      return repeated;
    }
    postgres::SignalLocks locks(db);
    locks.add_signal(signal.name, key_text(signal.key));
    locks.send();
    SignalOutcome outcome = route(db, signal, wakeup);
    if (outcome.kept && signal.kept_per_key_max > 0) {
      if (auto refused = refused_keeping(db, signal)) return *refused;
    }
    return outcome;
  });
  if (recorded) tell(wakeup);
  return recorded;
}

namespace {

// An unreadable body: the signal is shown with its number only.
KeptSignal read_kept(const Rows& row) {
  std::optional<Timestamp> until;
  if (!row.is_null(3)) until = row.time(3);
  const auto body = parse_stored(row.text(1));
  return kept_signal_of(row.integer(0), body ? *body : Json::object({{"payload", row.text(1)}}), row.time(2), until);
}

}  // namespace

Result<Page<KeptSignal>> PostgresStore::list_signals(const SignalFilter& filter, const PageRequest& request) {
  CAIRN_TRY(const std::int64_t cursor, sql::read_cursor(request.cursor, 0));
  return read<Page<KeptSignal>>([&](Connection& db) -> Result<Page<KeptSignal>> {
    Page<KeptSignal> page;
    const auto limit = static_cast<std::int64_t>(request.limit) + 1;
    Rows rows = db.query(Sql::list_kept, cursor, text_or_null(filter.name), filter.key, limit);
    while (rows.next()) {
      if (page.items.size() == request.limit) {
        page.next_cursor = std::to_string(page.items.back().number);
        break;
      }
      page.items.push_back(read_kept(rows));
    }
    return page;
  });
}

Result<bool> PostgresStore::discard_signal(std::int64_t number) {
  return write<bool>([&](Connection& db) -> Result<bool> { return db.query(Sql::delete_kept, number).changed() == 1; });
}

// A wait that takes the signal at the same moment locks its row: one of the two finds it gone.
Result<std::size_t> PostgresStore::expire_signals(std::size_t max) {
  // Usually none has expired, and a read is cheaper than a transaction.
  CAIRN_TRY(const bool any,
            read<bool>([&](Connection& db) -> Result<bool> { return db.query(Sql::any_expired, now()).next(); }));
  if (!any) return 0;
  Wakeup wakeup;
  std::vector<KeptSignal> taken;
  auto expired = write<std::size_t>([&](Connection& db) -> Result<std::size_t> {
    wakeup = {};
    const Timestamp at = now();
    taken.clear();
    Rows rows = db.query(Sql::take_expired_signals, at, static_cast<std::int64_t>(max));
    while (rows.next()) taken.push_back(read_kept(rows));
    for (const KeptSignal& signal : taken) {
      const DeadLetter letter = letter_of_expiry(signal);
      db.send(Sql::insert_dead_letter, std::optional<std::string>(), letter.kind, write_json(letter.envelope),
              letter.reason, letter.node, at);
      if (const auto event = event_of(letter, at, events_)) write_event(db, {}, *event, wakeup);
      write_event(db, {}, event_of_expiry(signal, at, events_), wakeup);
    }
    return taken.size();
  });
  if (!expired || *expired == 0) return expired;
  // Only now, because the transaction may have been repeated.
  for (const KeptSignal& signal : taken) report_dead_letter(letter_of_expiry(signal));
  tell(wakeup);
  return expired;
}

Result<std::vector<Message>> PostgresStore::take_messages(std::size_t max, Duration hold) {
  if (auto refused = refusal()) return *refused;
  const Timestamp at = now();
  Column<std::int64_t> held;
  {
    const std::lock_guard lock(marks_mutex_);
    for (const auto& [message, until] : held_messages_) {
      if (until > at) held.add(message);
    }
  }
  const postgres::Presence::Share share = channel_ ? channel_->share() : postgres::Presence::Share{};
  std::vector<std::pair<std::int64_t, DeadLetter>> bad;
  std::vector<std::pair<Message, Error>> ends;  // of runs, unreadable
  CAIRN_TRY(auto taken, read<std::vector<Message>>([&](Connection& db) -> Result<std::vector<Message>> {
              std::vector<Message> messages;
              bad.clear();
              ends.clear();
              Rows rows = db.query(Sql::ready_messages, static_cast<std::int64_t>(max), held, share.nodes, share.place,
                                   after(at, patience_back));
              while (rows.next()) {
                // One row that is unreadable, or whose instance is gone, must not stop the queue.
                if (rows.is_null(1)) {
                  bad.emplace_back(rows.integer(0), unread(rows, "there is no such instance"));
                  continue;
                }
                const auto kind = message_kind_from(rows.text(2));
                const auto body = parse_stored(rows.text(3));
                if (kind && body) {
                  messages.push_back(sql::read_message(rows));
                  continue;
                }
                bad.emplace_back(rows.integer(0), unread(rows, "the message cannot be read"));
                if (kind == Message::Kind::run_finished) {
                  ends.push_back({{rows.integer(0), {rows.text(1)}, *kind, Json(), rows.time(4)}, body.error()});
                }
              }
              return messages;
            }));
  for (auto& [end, why] : ends) {
    const auto readable = read<std::optional<Message>>(
        [&](Connection& db) -> Result<std::optional<Message>> { return readable_run_end(db, end, why); });
    if (!readable && readable.error().code == ErrorCode::unavailable) return readable.error();
    if (!readable || !*readable) continue;
    log_error("postgres.run_end_unreadable", why, {{"instance", end.target.value}});
    std::erase_if(bad, [&](const auto& one) { return one.first == end.id; });
    taken.push_back(std::move(**readable));
  }
  std::sort(taken.begin(), taken.end(), [](const Message& a, const Message& b) { return a.id < b.id; });
  if (!bad.empty()) {
    Wakeup wakeup;
    CAIRN_TRY_VOID(write<bool>([&](Connection& db) -> Result<bool> {
      wakeup = {};
      for (const auto& [message, letter] : bad) {
        if (db.query(Sql::delete_message, message).changed() == 1) insert_dead_letter(db, letter, wakeup);
      }
      return true;
    }));
    if (wakeup.outbox) tell(wakeup);
  }
  const std::lock_guard lock(marks_mutex_);
  for (const Message& message : taken) held_messages_[message.id] = after(at, hold);
  return taken;
}

void PostgresStore::give_back_message(std::int64_t message) {
  const std::lock_guard lock(marks_mutex_);
  held_messages_.erase(message);
}

// Ends the read that take_timers started.
struct PostgresStore::ReadingTimers {
  explicit ReadingTimers(PostgresStore& store) : store_(store) {}
  ReadingTimers(const ReadingTimers&) = delete;
  ReadingTimers& operator=(const ReadingTimers&) = delete;
  ~ReadingTimers() {
    const std::lock_guard lock(store_.marks_mutex_);
    if (--store_.timer_readers_ == 0) store_.gone_timers_.clear();
  }

 private:
  PostgresStore& store_;
};

Result<std::vector<DueTimer>> PostgresStore::take_timers(std::size_t max, Duration hold) {
  if (auto refused = refusal()) return *refused;
  const Timestamp at = now();
  std::vector<DueTimer> taken;
  std::map<std::int64_t, std::string> instances;
  Column<Timestamp> stale_due;
  Column<std::int64_t> stale_instances;
  Column<std::string> stale_tokens;
  const postgres::Presence::Share share = channel_ ? channel_->share() : postgres::Presence::Share{};
  const auto page = static_cast<std::int64_t>(std::max<std::size_t>(max, 64));
  const auto take_page = [&](std::int64_t offset) {
    return read<std::size_t>([&](Connection& db) -> Result<std::size_t> {
      Rows rows = db.query(Sql::due_timers, at, page, offset, share.nodes, share.place, after(at, patience_back));
      const std::lock_guard lock(marks_mutex_);
      // The first held timer of each instance; later ones wait for it.
      std::unordered_map<std::string, std::int64_t> in_hand;
      for (const auto& [key, until] : held_timers_) {
        if (until <= at) continue;
        const auto [first, fresh] = in_hand.try_emplace(key.instance, key.due);
        if (!fresh) first->second = std::min(first->second, key.due);
      }
      const auto is_behind = [&](const TimerKey& key) {
        const auto first = in_hand.find(key.instance);
        return first != in_hand.end() && first->second <= key.due;
      };
      while (rows.next()) {
        if (rows.is_null(3) || !rows.boolean(4)) {
          stale_due.add(rows.time(0));
          stale_instances.add(rows.integer(1));
          stale_tokens.add(rows.text(2));
          continue;
        }
        if (taken.size() == max) continue;
        DueTimer timer{{rows.text(3)}, {rows.text(2)}, rows.time(0)};
        TimerKey key{timer.due.unix_ms(), timer.instance.value, timer.token.value};
        if (gone_timers_.contains(key) || is_behind(key)) continue;
        // Timers are marked as they are read, so two threads never get the same one.
        const auto [held, fresh] = held_timers_.try_emplace(std::move(key), after(at, hold));
        if (!fresh && held->second > at) continue;
        held->second = after(at, hold);
        memory_.learn(timer.instance.value, rows.time(5), rows.integer(1));
        instances.emplace(rows.integer(1), timer.instance.value);
        taken.push_back(std::move(timer));
      }
      return rows.size();
    });
  };
  std::int64_t first = 0;
  {
    // Held timers sort before all others. If they were written meanwhile, the scan from the start finds the rest.
    const std::lock_guard lock(marks_mutex_);
    ++timer_readers_;
    if (held_timers_.size() >= static_cast<std::size_t>(page)) first = static_cast<std::int64_t>(held_timers_.size());
  }
  const ReadingTimers reading(*this);
  for (std::int64_t offset = first;; offset += page) {
    const auto seen = take_page(offset);
    // Marked timers are ours, whatever failed after that.
    if (!seen && taken.empty()) return seen.error();
    if (!seen || taken.size() == max) break;
    if (*seen == static_cast<std::size_t>(page)) continue;
    if (first == 0 || !taken.empty()) break;
    offset = -page;
    first = 0;
  }
  if (!stale_due.empty()) {
    // If this fails, they are found again.
    [[maybe_unused]] const auto removed = read<bool>([&](Connection& db) -> Result<bool> {
      db.query(Sql::delete_timers, stale_due, stale_instances, stale_tokens);
      return true;
    });
  }
  read_ahead(instances);
  return taken;
}

void PostgresStore::give_back(const DueTimer& timer) {
  const std::lock_guard lock(marks_mutex_);
  held_timers_.erase({timer.due.unix_ms(), timer.instance.value, timer.token.value});
}

Result<std::optional<Timestamp>> PostgresStore::next_due(Timestamp looked_at) {
  const postgres::Presence::Share share = channel_ ? channel_->share() : postgres::Presence::Share{};
  std::size_t held_count = 0;
  Column<std::int64_t> held_numbers;
  {
    const std::lock_guard lock(marks_mutex_);
    std::erase_if(held_messages_, [&](const auto& held) { return held.second <= looked_at; });
    std::erase_if(held_timers_, [&](const auto& held) { return held.second <= looked_at; });
    held_count = held_timers_.size();
    for (const auto& [message, until] : held_messages_) held_numbers.add(message);
  }
  return read<std::optional<Timestamp>>([&](Connection& db) -> Result<std::optional<Timestamp>> {
    read_clock(db);
    std::optional<Timestamp> due;
    const auto offer = [&due](Timestamp candidate) {
      if (!due || candidate < *due) due = candidate;
    };
    const std::size_t first = db.send(Sql::first_timers, static_cast<std::int64_t>(held_count) + looked_ahead);
    const std::size_t left = share.nodes > 1 ? db.send(Sql::oldest_message, held_numbers) : 0;
    const std::size_t others = db.send(Sql::next_due, looked_at);
    db.finish();
    Rows timers = db.take(first);
    Rows rest = db.take(others);
    const std::lock_guard lock(marks_mutex_);
    for (const auto& [key, until] : held_timers_) {
      if (until > looked_at) offer(std::max(until, Timestamp::of_unix_ms(key.due)));
    }
    std::set<std::pair<std::int64_t, std::string>> held;
    for (const auto& [key, until] : held_timers_) held.emplace(key.due, key.token);
    std::set<std::int64_t> behind;  // instances whose next item waits for a held one
    while (timers.next()) {
      if (held.contains({timers.time(0).unix_ms(), timers.text(2)})) {
        behind.insert(timers.integer(1));
        continue;
      }
      if (behind.contains(timers.integer(1))) continue;
      const bool mine = timers.integer(1) % share.nodes == share.place;
      offer(mine ? timers.time(0) : after(timers.time(0), patience));
      if (mine) break;
    }
    if (share.nodes > 1) {
      Rows oldest = db.take(left);
      if (oldest.next()) offer(after(oldest.time(0), patience));
    }
    for (const auto& [message, until] : held_messages_) {
      if (until > looked_at) offer(until);
    }
    if (rest.next() && !rest.is_null(0)) offer(rest.time(0));
    return due;
  });
}

}  // namespace cairn
