#include "store/projection.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/row_reading.h"

namespace cairn {

using sqlite::json_text;
using sqlite::Query;
using sqlite::Sql;
using sqlite::text_or_null;
using sqlite::Transaction;

namespace {

OutboxRow read_event(const Query& query) {
  OutboxRow row;
  row.sequence = query.integer(0);
  row.event.id = {query.text(1)};
  row.instance = {query.text(2)};
  row.event.type = query.text(3);
  row.event.subject = query.text(4);
  row.event.data = query.json(5);
  row.created_at = query.time(6);
  row.published_at = query.time_or_nothing(7);
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

// Like every mark on taken work, the delay is kept in memory: after a crash the event is tried at once.
Result<void> SqliteStore::postpone_outbox(std::span<const std::int64_t> sequences, Duration delay) {
  Wakeup wakeup;
  {
    const std::lock_guard lock(writer_mutex_);
    if (auto refused = refusal()) return *refused;
    wakeup.due = after(now(), delay);
    for (const std::int64_t sequence : sequences) held_outbox_[sequence] = *wakeup.due;
  }
  tell(wakeup);
  return {};
}

Result<Page<OutboxRow>> SqliteStore::list_outbox(const OutboxFilter& filter, const PageRequest& request) {
  CAIRN_TRY(const std::int64_t from, sqlite::read_cursor(request.cursor, filter.after));
  Reader db = reader();
  Page<OutboxRow> page;
  const Sql statement = filter.unpublished ? Sql::list_waiting_outbox
                        : filter.instance  ? Sql::list_instance_outbox
                                           : Sql::list_outbox;
  std::optional<std::string_view> instance;
  if (filter.instance) instance = filter.instance->value;
  {
    Query rows = db->query(statement, from, text_or_null(filter.type_prefix), text_or_null(filter.subject), instance,
                           static_cast<std::int64_t>(request.limit + 1));
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

Result<void> SqliteStore::record_deliveries(std::span<const Delivery> deliveries) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  Transaction transaction(*writer_);
  for (const Delivery& delivery : deliveries) {
    writer_->run(Sql::insert_delivery, delivery.sequence, delivery.sink, delivery.attempt, delivery.at,
                 delivery.delivered, delivery.error);
  }
  if (auto done = transaction.commit(); !done) return failed(done.error());
  return {};
}

Result<std::vector<Delivery>> SqliteStore::list_deliveries(std::int64_t sequence) {
  Reader db = reader();
  std::vector<Delivery> found;
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
    held_outbox_.erase(sequence);
  }
  tell(wakeup);
  return wakeup.outbox;
}

}  // namespace cairn
