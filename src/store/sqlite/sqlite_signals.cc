#include "store/projection.h"
#include "store/report_dead_letter.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/row_reading.h"
#include "store/stored_json.h"

namespace cairn {

using sqlite::json_text;
using sqlite::Query;
using sqlite::Sql;
using sqlite::text_or_null;
using sqlite::Transaction;

namespace {

std::optional<std::string_view> key_text(const Json& key) {
  if (!key.is_string()) return std::nullopt;
  return key.as_string();
}

DeadLetter unread(std::int64_t id, const std::string& target, const std::string& kind, const std::string& body) {
  DeadLetter letter;
  if (!target.empty()) letter.instance = InstanceId{target};
  letter.kind = "message";
  letter.envelope = Json::object({{"kind", kind}, {"unreadable", body}, {"message", id}});
  letter.reason = "the message cannot be read";
  letter.node = "store";  // found while reading the queue, not by a particular node
  return letter;
}

}  // namespace

void SqliteStore::send(const Message& message, Wakeup& wakeup) {
  if (!writer_->query(Sql::instance_number, message.target.value).next()) {
    if (writer_->error()) return;
    DeadLetter letter;
    letter.instance = message.target;
    letter.kind = "message";
    letter.envelope = Json::object({{"kind", to_string(message.kind)}, {"body", message.body}});
    letter.reason = "there is no such instance";
    letter.node = made_by_store;  // found during routing, not by a particular node
    insert_dead_letter(letter, wakeup);
    return;
  }
  const bool signal = message.kind == Message::Kind::signal;
  writer_->run(Sql::insert_message, message.target.value, to_string(message.kind),
               signal ? text_or_null(message.body.text_or("name", "")) : std::nullopt,
               signal ? key_text(message.body["key"]) : std::nullopt, json_text(message.body), now());
  wakeup.messages = true;
}

namespace {

// Checks the limits; the signal is already among the kept ones.
std::optional<Error> refusal_of_kept(sqlite::Connection& db, const CorrelatedSignal& signal) {
  const auto count = [](Query counted) { return counted.next() ? static_cast<std::size_t>(counted.integer(0)) : 0; };
  const auto most = [](std::size_t max) { return static_cast<std::int64_t>(max) + 1; };
  if (signal.kept_per_key_max > 0 && count(db.query(Sql::count_kept, signal.name, key_text(signal.key),
                                                    most(signal.kept_per_key_max))) > signal.kept_per_key_max) {
    return too_many_kept(signal, true);
  }
  if (signal.kept_total_max > 0 &&
      count(db.query(Sql::count_all_kept, most(signal.kept_total_max))) > signal.kept_total_max) {
    return too_many_kept(signal, false);
  }
  return std::nullopt;
}

}  // namespace

SignalOutcome SqliteStore::route(const CorrelatedSignal& signal, Wakeup& wakeup) {
  SignalOutcome outcome;
  {
    Query waiting = writer_->query(Sql::signal_waits, signal.name, key_text(signal.key), signal.id);
    while (waiting.next()) outcome.delivered.push_back({waiting.text(0)});
  }
  const bool alone = outcome.delivered.size() == 1;
  for (const InstanceId& target : outcome.delivered) send(message_of(signal, target, alone), wakeup);
  if (outcome.delivered.empty()) {
    const Timestamp at = now();
    std::optional<Timestamp> until;
    if (signal.ttl) until = after(at, *signal.ttl);
    writer_->run(Sql::keep_signal, signal.name, key_text(signal.key), json_text(message_of(signal, {}, true).body), at,
                 until);
    if (until && (!wakeup.due || *until < *wakeup.due)) wakeup.due = until;
    outcome.kept = true;
    maybe_kept_ = true;
  }
  return outcome;
}

Result<SignalOutcome> SqliteStore::record_signal(const CorrelatedSignal& signal) {
  SignalOutcome outcome;
  Wakeup wakeup;
  {
    const std::lock_guard lock(writer_mutex_);
    if (auto refused = refusal()) return *refused;
    Transaction transaction(*writer_);
    if (signal.remember && writer_->query(Sql::find_key, "signal", signal.id).next()) {
      outcome.duplicate = true;
      return outcome;
    }
    if (signal.remember) writer_->run(Sql::insert_key, "signal", signal.id, "", "null", now());
    outcome = route(signal, wakeup);
    if (outcome.kept) {
      if (auto refused = refusal_of_kept(*writer_, signal)) return *refused;
    }
    if (auto done = transaction.commit(); !done) return failed(done.error());
  }
  tell(wakeup);
  return outcome;
}

Result<std::vector<Message>> SqliteStore::take_messages(std::size_t max, Duration hold) {
  std::unique_lock lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  writer_->clear_error();
  const Timestamp at = now();
  std::vector<Message> taken;
  std::vector<std::pair<std::int64_t, DeadLetter>> bad;
  std::set<std::string> behind;  // instances with an earlier item that is held
  {
    Query ready = writer_->query(Sql::ready_messages);
    while (taken.size() < max && ready.next()) {
      const std::int64_t id = ready.integer(0);
      const auto held = held_messages_.find(id);
      if (held != held_messages_.end() && held->second > at) {
        behind.insert(ready.text(1));
        continue;
      }
      if (!behind.empty() && behind.contains(ready.text(1))) continue;
      // One unreadable row must not stop the queue.
      if (!message_kind_from(ready.text(2)) || !parse_stored(ready.text(3))) {
        bad.emplace_back(id, unread(id, ready.text(1), ready.text(2), ready.text(3)));
        continue;
      }
      taken.push_back(sql::read_message(ready));
    }
  }
  if (writer_->error()) return *writer_->error();
  Wakeup wakeup;
  if (!bad.empty()) {
    Transaction transaction(*writer_);
    for (const auto& [id, letter] : bad) {
      insert_dead_letter(letter, wakeup);
      writer_->run(Sql::delete_message, id);
    }
    if (auto done = transaction.commit(); !done) return failed(done.error());
  }
  for (const Message& message : taken) held_messages_[message.id] = after(at, hold);
  lock.unlock();
  if (wakeup.outbox) tell(wakeup);
  return taken;
}

void SqliteStore::give_back_message(std::int64_t message) {
  const std::lock_guard lock(writer_mutex_);
  held_messages_.erase(message);
}

Result<std::vector<DueTimer>> SqliteStore::take_timers(std::size_t max, Duration hold) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  writer_->clear_error();
  const Timestamp at = now();
  std::vector<DueTimer> taken;
  std::vector<TimerKey> keys;
  std::vector<TimerKey> stale;
  std::set<std::int64_t> behind;  // instances with an earlier item that is held
  {
    Query due = writer_->query(Sql::due_timers, at);
    while (taken.size() < max && stale.size() < max && due.next()) {
      TimerKey key{due.integer(0), due.integer(1), due.text(2)};
      if (due.is_null(3) || due.integer(4) == 0) {
        stale.push_back(std::move(key));
        continue;
      }
      const auto held = held_timers_.find(key);
      if (held != held_timers_.end() && held->second > at) {
        behind.insert(due.integer(1));
        continue;
      }
      if (behind.contains(due.integer(1))) continue;
      taken.push_back({{due.text(3)}, {due.text(2)}, due.time(0)});
      keys.push_back(std::move(key));
    }
  }
  if (writer_->error()) return *writer_->error();
  if (!stale.empty()) {
    Transaction transaction(*writer_);
    for (const auto& [when, instance, token] : stale) writer_->run(Sql::delete_timer, when, instance, token);
    if (auto done = transaction.commit(); !done) return failed(done.error());
    for (const TimerKey& key : stale) held_timers_.erase(key);
  }
  for (TimerKey& key : keys) held_timers_[std::move(key)] = after(at, hold);
  return taken;
}

void SqliteStore::give_back(const DueTimer& timer) {
  const std::lock_guard lock(writer_mutex_);
  writer_->clear_error();
  Query row = writer_->query(Sql::instance_number, timer.instance.value);
  if (row.next()) held_timers_.erase({timer.due.unix_ms(), row.integer(0), timer.token.value});
}

Result<std::optional<Timestamp>> SqliteStore::next_due(Timestamp looked_at) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  writer_->clear_error();
  std::optional<Timestamp> due;
  const auto offer = [&due](Timestamp candidate) {
    if (!due || candidate < *due) due = candidate;
  };
  {
    std::set<std::int64_t> behind;  // instances whose next item waits for a held one
    Query timers = writer_->query(Sql::first_timers);
    while (timers.next()) {
      const auto held = held_timers_.find({timers.integer(0), timers.integer(1), timers.text(2)});
      if (held != held_timers_.end()) {
        behind.insert(timers.integer(1));
        offer(std::max(held->second, timers.time(0)));
      } else if (!behind.contains(timers.integer(1))) {
        offer(timers.time(0));
        break;
      }
    }
  }
  for (const auto& [id, until] : held_messages_) {
    if (until > looked_at) offer(until);
  }
  {
    Query runs = writer_->query(Sql::next_run_due, looked_at);
    if (runs.next() && !runs.is_null(0)) offer(runs.time(0));
  }
  if (maybe_kept_) {
    Query expiry = writer_->query(Sql::next_expiry);
    if (expiry.next() && !expiry.is_null(0)) offer(expiry.time(0));
  }
  if (const auto scheduled = next_scheduled(looked_at)) offer(*scheduled);
  if (writer_->error()) return *writer_->error();
  return due;
}

Result<std::vector<DueTimer>> SqliteStore::list_timers(const InstanceId& id) {
  Reader db = reader();
  std::vector<DueTimer> timers;
  {
    Query rows = db->query(Sql::list_timers, id.value);
    while (rows.next()) timers.push_back({id, {rows.text(1)}, rows.time(0)});
  }
  return db.give(std::move(timers));
}

Result<std::vector<Message>> SqliteStore::list_messages(const InstanceId& id) {
  Reader db = reader();
  std::vector<Message> messages;
  {
    Query rows = db->query(Sql::list_messages, id.value);
    while (rows.next()) messages.push_back(sql::read_message(rows));
  }
  return db.give(std::move(messages));
}

namespace {

// An unreadable body: the signal is shown with its number only.
KeptSignal read_kept(const Query& row) {
  std::optional<Timestamp> until;
  if (!row.is_null(3)) until = row.time(3);
  const auto body = parse_stored(row.text(1));
  return kept_signal_of(row.integer(0), body ? *body : Json::object({{"payload", row.text(1)}}), row.time(2), until);
}

}  // namespace

Result<Page<KeptSignal>> SqliteStore::list_signals(const SignalFilter& filter, const PageRequest& request) {
  CAIRN_TRY(const std::int64_t cursor, sql::read_cursor(request.cursor, 0));
  Reader db = reader();
  Page<KeptSignal> page;
  {
    const auto limit = static_cast<std::int64_t>(request.limit) + 1;
    Query rows = db->query(Sql::list_kept, cursor, text_or_null(filter.name),
                           filter.key ? std::optional<std::string_view>(*filter.key) : std::nullopt, limit);
    while (rows.next()) {
      if (page.items.size() == request.limit) {
        page.next_cursor = std::to_string(page.items.back().number);
        break;
      }
      page.items.push_back(read_kept(rows));
    }
  }
  return db.give(std::move(page));
}

Result<bool> SqliteStore::discard_signal(std::int64_t number) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  Transaction transaction(*writer_);
  const bool gone = writer_->run(Sql::delete_kept, number) == 1;
  if (auto done = transaction.commit(); !done) return failed(done.error());
  return gone;
}

Result<std::size_t> SqliteStore::expire_signals(std::size_t max) {
  Wakeup wakeup;
  std::vector<KeptSignal> expired;
  {
    const std::lock_guard lock(writer_mutex_);
    if (auto refused = refusal()) return *refused;
    if (!maybe_kept_) return 0;
    writer_->clear_error();
    const Timestamp at = now();
    {
      Query rows = writer_->query(Sql::expired_signals, at, static_cast<std::int64_t>(max));
      while (rows.next()) expired.push_back(read_kept(rows));
    }
    if (writer_->error()) return *writer_->error();
    if (expired.empty()) return 0;
    Transaction transaction(*writer_);
    for (const KeptSignal& signal : expired) {
      const DeadLetter letter = letter_of_expiry(signal);
      writer_->run(Sql::delete_kept, signal.number);
      writer_->run(Sql::insert_dead_letter, std::optional<std::string_view>(), letter.kind, json_text(letter.envelope),
                   letter.reason, letter.node, at);
      if (const auto event = event_of(letter, at, events_)) write_event({}, *event, wakeup);
      write_event({}, event_of_expiry(signal, at, events_), wakeup);
    }
    if (auto done = transaction.commit(); !done) return failed(done.error());
  }
  // Only now, because a full disk makes the commit fail again and again.
  for (const KeptSignal& signal : expired) report_dead_letter(letter_of_expiry(signal));
  tell(wakeup);
  return expired.size();
}

}  // namespace cairn
