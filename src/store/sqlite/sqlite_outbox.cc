#include <algorithm>

#include "store/projection.h"
#include "store/report_dead_letter.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/row_reading.h"

namespace cairn {

using sqlite::json_text;
using sqlite::Query;
using sqlite::Sql;
using sqlite::text_or_null;
using sqlite::Transaction;

namespace {

constexpr std::size_t assigned_at_once = 128;

OutboxRow read_event(const Query& query) {
  OutboxRow row = sql::read_outbox(query);
  row.published_at = query.time_or_nothing(7);
  return row;
}

OutboxRow read_claimed(const Query& query) {
  OutboxRow row = read_event(query);
  row.attempts = static_cast<int>(query.integer(8));
  return row;
}

}  // namespace

void SqliteStore::write_event(const InstanceId& instance, const OutboxEntry& entry, Wakeup& wakeup) {
  const Timestamp at = now();
  std::optional<Timestamp> published;
  if (entry.published) published = at;
  writer_->run(Sql::insert_event, entry.event.id.value, instance.value, entry.event.type, entry.event.subject,
               json_text(entry.event.data), at, published);
  wakeup.outbox = true;
}

// New events into the queues of those who want them. Like all commits of a dispatcher that catches up, it is synced
// when the writer is free again: what instances write need not wait for that sync.
Result<std::size_t> SqliteStore::assign_events(std::span<const SinkFilter> sinks, std::size_t max) {
  {
    Reader db = reader();
    bool any = false;
    {
      Query rows = db->query(Sql::new_events, std::int64_t{1});
      any = rows.next();
    }
    CAIRN_TRY(any, db.give(any));
    if (!any) return std::size_t{0};
  }
  struct Fresh {
    std::int64_t sequence;
    std::string type;
    std::string subject;
  };
  std::vector<Fresh> events;
  {
    const std::lock_guard lock(writer_mutex_);
    if (auto refused = refusal()) return *refused;
    const Timestamp at = now();
    Transaction transaction(*writer_);
    {
      Query rows = writer_->query(Sql::new_events, static_cast<std::int64_t>(max));
      while (rows.next()) events.push_back({rows.integer(0), rows.text(1), rows.text(2)});
    }
    for (const Fresh& event : events) {
      bool wanted = false;
      for (const SinkFilter& sink : sinks) {
        if (!sink.wants(event.type)) continue;
        wanted = true;
        writer_->run(Sql::queue_event, event.sequence, sink.name, event.subject, at);
      }
      writer_->run(Sql::assign_event, event.sequence, wanted ? std::optional<Timestamp>() : at);
    }
    if (auto done = transaction.commit(Transaction::Sync::ahead); !done) return failed(done.error());
  }
  sync();
  return events.size();
}

// New events are assigned in short transactions, because commits wait for them. This repeats until an event can be
// claimed: the first ones may all be for other sinks.
Result<std::vector<OutboxRow>> SqliteStore::claim_outbox(std::span<const SinkFilter> sinks, const OutboxClaim& claim) {
  for (;;) {
    CAIRN_TRY(const std::size_t assigned, assign_events(sinks, assigned_at_once));
    std::vector<DeadLetter> unreadable;
    CAIRN_TRY(auto claimed, claim_assigned(claim, unreadable));
    CAIRN_TRY_VOID(give_up(claim.sink, unreadable));
    if (!claimed.empty() || (assigned < assigned_at_once && unreadable.empty())) return claimed;
  }
}

// The rows are read with a reader, beside the writer. Claims are kept in memory like every mark on taken work, so a
// crash releases them.
Result<std::vector<OutboxRow>> SqliteStore::claim_assigned(const OutboxClaim& claim,
                                                           std::vector<DeadLetter>& unreadable) {
  const std::lock_guard lock(outbox_mutex_);
  auto& held = held_outbox_[claim.sink];
  const Timestamp at = now();
  std::erase_if(held, [at](const auto& one) { return one.second <= at; });
  std::vector<OutboxRow> claimed;
  {
    Reader db = reader();
    const auto take = [&](const Query& rows) {
      OutboxRow row = read_claimed(rows);
      const auto fault = db->take_row_fault();
      if (!fault) {
        claimed.push_back(std::move(row));
        return;
      }
      DeadLetter& letter = unreadable.emplace_back();
      if (!row.instance.value.empty()) letter.instance = row.instance;
      letter.kind = "event";
      letter.envelope = Json::object({{"event", row.event.id.value},
                                      {"sequence", row.sequence},
                                      {"type", row.event.type},
                                      {"subject", row.event.subject}});
      letter.reason = fault->message;
      letter.node = made_by_store;  // found while reading the outbox, not by a particular node
    };
    const auto take_first = [&](Sql statement, std::size_t until) {
      Query rows = db->query(statement, claim.sink, at);
      while (claimed.size() < until && rows.next()) {
        if (!held.contains(rows.integer(0))) take(rows);
      }
    };
    take_first(Sql::due_retries, std::min(claim.max, outbox_retries_max(claim)));
    take_first(Sql::due_events, claim.max);
    const std::size_t subjects = claimed.size();
    for (std::size_t i = 0; i < subjects && claimed.size() < claim.max; ++i) {
      const OutboxRow first = claimed[i];
      Query rows = db->query(Sql::later_events, claim.sink, first.event.subject, first.sequence,
                             static_cast<std::int64_t>(claim.max - claimed.size()));
      while (rows.next()) take(rows);
    }
    CAIRN_TRY_VOID(db.give(true));
  }
  for (const OutboxRow& row : claimed) held[row.sequence] = after(at, claim.hold);
  std::sort(claimed.begin(), claimed.end(),
            [](const OutboxRow& a, const OutboxRow& b) { return a.sequence < b.sequence; });
  return claimed;
}

// Gives up events that cannot be read, so that they do not block the others.
Result<void> SqliteStore::give_up(const std::string& sink, std::span<const DeadLetter> unreadable) {
  if (unreadable.empty()) return {};
  std::unique_lock lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  const Timestamp at = now();
  Wakeup wakeup;
  Transaction transaction(*writer_);
  for (const DeadLetter& letter : unreadable) {
    const std::int64_t sequence = letter.envelope["sequence"].as_integer();
    if (writer_->run(Sql::unqueue_event, sequence, sink) == 0) continue;
    insert_dead_letter(letter, wakeup);
    writer_->run(Sql::next_of_subject, sequence, sink, at);
    writer_->run(Sql::publish_event, sequence, at);
  }
  if (auto done = transaction.commit(); !done) return failed(done.error());
  lock.unlock();
  if (wakeup.outbox) tell(wakeup);
  return {};
}

Result<std::vector<std::string>> SqliteStore::list_sink_queues() {
  Reader db = reader();
  std::vector<std::string> sinks;
  {
    Query rows = db->query(Sql::list_sink_queues);
    while (rows.next()) sinks.push_back(rows.text(0));
  }
  return db.give(std::move(sinks));
}

Result<void> SqliteStore::hold_outbox(const std::string& sink, std::span<const std::int64_t> sequences, Duration hold) {
  const std::lock_guard lock(outbox_mutex_);
  auto& held = held_outbox_[sink];
  for (const std::int64_t sequence : sequences) held[sequence] = after(now(), hold);
  return {};
}

Result<std::size_t> SqliteStore::record_sink_results(const std::string& sink, std::span<const SinkResult> events) {
  Wakeup wakeup;
  std::size_t published = 0;
  {
    const std::lock_guard lock(writer_mutex_);
    if (auto refused = refusal()) return *refused;
    const Timestamp at = now();
    Transaction transaction(*writer_);
    for (const SinkResult& event : events) {
      if (event.kind == SinkResult::Kind::not_tried) continue;
      const SinkDelivery tried = sink_delivery_of(sink, event);
      writer_->run(Sql::insert_delivery, tried.sequence, sink, tried.attempt, tried.at, tried.delivered, tried.error);
      if (event.kind == SinkResult::Kind::failed) {
        const Timestamp due = after(at, event.delay);
        if (writer_->run(Sql::retry_event, event.sequence, sink, due) == 0) continue;
        if (!wakeup.due || due < *wakeup.due) wakeup.due = due;
      } else if (writer_->run(Sql::unqueue_event, event.sequence, sink) > 0) {
        writer_->run(Sql::next_of_subject, event.sequence, sink, at);
        published += static_cast<std::size_t>(writer_->run(Sql::publish_event, event.sequence, at));
      }
    }
    if (auto done = transaction.commit(Transaction::Sync::ahead); !done) return failed(done.error());
    const std::lock_guard claims(outbox_mutex_);
    for (const SinkResult& event : events) held_outbox_[sink].erase(event.sequence);
  }
  sync();
  tell(wakeup);
  return published;
}

Result<Page<OutboxRow>> SqliteStore::list_outbox(const OutboxFilter& filter, const PageRequest& request) {
  CAIRN_TRY(const std::int64_t from, sql::read_cursor(request.cursor, filter.after));
  Reader db = reader();
  Page<OutboxRow> page;
  const Sql statement = filter.unpublished ? Sql::list_waiting_outbox
                        : filter.instance  ? Sql::list_instance_outbox
                                           : Sql::list_outbox;
  std::optional<std::string_view> instance;
  if (filter.instance) instance = filter.instance->value;
  {
    Query rows = db->query(statement, from, text_or_null(filter.type_prefix), text_or_null(filter.subject), instance,
                           sqlite::no_limit);
    while (rows.next()) {
      if (page.items.size() == request.limit) {
        page.next_cursor = std::to_string(page.items.back().sequence);
        break;
      }
      OutboxRow row = read_event(rows);
      if (const auto fault = db->take_row_fault()) {
        page.unreadable.push_back("event " + std::to_string(row.sequence) + ": " + fault->message);
        continue;
      }
      page.items.push_back(std::move(row));
    }
  }
  return db.give(std::move(page));
}

Result<std::vector<SinkDelivery>> SqliteStore::list_deliveries(std::int64_t sequence) {
  Reader db = reader();
  std::vector<SinkDelivery> found;
  {
    Query rows = db->query(Sql::list_deliveries, sequence);
    while (rows.next()) {
      found.push_back({rows.integer(0), rows.text(1), static_cast<int>(rows.integer(2)), rows.time(3),
                       rows.integer(4) != 0, rows.text(5)});
    }
  }
  return db.give(std::move(found));
}

Result<bool> SqliteStore::resend_outbox(std::int64_t sequence) {
  Wakeup wakeup;
  {
    const std::lock_guard lock(writer_mutex_);
    if (auto refused = refusal()) return *refused;
    Transaction transaction(*writer_);
    if (writer_->run(Sql::resend_outbox, sequence) == 1) {
      writer_->run(Sql::insert_delivery, sequence, "", 0, now(), false, "sent again on request");
      wakeup.outbox = true;
    }
    if (auto done = transaction.commit(); !done) return failed(done.error());
    const std::lock_guard claims(outbox_mutex_);
    for (auto& [sink, held] : held_outbox_) held.erase(sequence);
  }
  tell(wakeup);
  return wakeup.outbox;
}

}  // namespace cairn
