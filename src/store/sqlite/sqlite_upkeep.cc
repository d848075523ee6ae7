#include "store/projection.h"
#include "store/report_dead_letter.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/row_reading.h"

namespace cairn {

using sqlite::json_text;
using sqlite::Query;
using sqlite::Sql;
using sqlite::Transaction;

std::int64_t SqliteStore::insert_dead_letter(const DeadLetter& letter, Wakeup& wakeup) {
  std::optional<std::string_view> instance;
  if (letter.instance) instance = letter.instance->value;
  writer_->run(Sql::insert_dead_letter, instance, letter.kind, json_text(letter.envelope), letter.reason, letter.node,
               now());
  const std::int64_t id = writer_->last_number();
  if (const auto event = event_of(letter, now(), events_)) {
    write_event(letter.instance.value_or(InstanceId{}), *event, wakeup);
  }
  if (letter.node == made_by_store) report_dead_letter(letter);
  return id;
}

Result<std::int64_t> SqliteStore::put_dead_letter(const DeadLetter& letter) {
  Wakeup wakeup;
  std::int64_t id = 0;
  {
    const std::lock_guard lock(writer_mutex_);
    if (auto refused = refusal()) return *refused;
    Transaction transaction(*writer_);
    id = insert_dead_letter(letter, wakeup);
    if (auto done = transaction.commit(); !done) return failed(done.error());
  }
  tell(wakeup);
  return id;
}

Result<Page<DeadLetter>> SqliteStore::list_dead_letters(const PageRequest& request) {
  CAIRN_TRY(const std::int64_t cursor, sql::read_cursor(request.cursor, 0));
  Reader db = reader();
  Page<DeadLetter> page;
  {
    Query rows = db->query(Sql::list_dead_letters, cursor, sqlite::no_limit);
    while (rows.next()) {
      if (page.items.size() == request.limit) {
        page.next_cursor = std::to_string(page.items.back().id);
        break;
      }
      DeadLetter letter = sql::read_dead_letter(rows);
      if (const auto fault = db->take_row_fault()) {
        page.unreadable.push_back("dead letter " + std::to_string(letter.id) + ": " + fault->message);
        continue;
      }
      page.items.push_back(std::move(letter));
    }
  }
  return db.give(std::move(page));
}

Result<bool> SqliteStore::replay_dead_letter(std::int64_t id) {
  Wakeup wakeup;
  {
    const std::lock_guard lock(writer_mutex_);
    if (auto refused = refusal()) return *refused;
    Transaction transaction(*writer_);
    DeadLetter letter;
    {
      Query row = writer_->query(Sql::find_dead_letter, id);
      if (!row.next()) {
        if (writer_->error()) return *writer_->error();
        return false;
      }
      letter = sql::read_dead_letter(row);
    }
    if (letter.kind == "timer" && letter.instance) {
      const auto due = parse_timestamp(letter.envelope.text_or("due", ""));
      std::int64_t number = 0;
      {
        Query row = writer_->query(Sql::instance_number, letter.instance->value);
        if (row.next()) number = row.integer(0);
      }
      if (number == 0 || !due) return Error{ErrorCode::unsupported, "the timer's instance or time is gone"};
      writer_->run(Sql::insert_timer, *due, number, letter.envelope.text_or("token", ""));
      writer_->run(Sql::delete_dead_letter, id);
      wakeup.due = *due;
    } else {
      const auto kind = message_kind_from(letter.envelope.text_or("kind", ""));
      if (letter.kind != "message" || !letter.instance || !kind || letter.envelope.find("body") == nullptr) {
        return Error{ErrorCode::unsupported, "a dead letter of kind " + letter.kind + " cannot be replayed"};
      }
      Message message;
      message.target = *letter.instance;
      message.kind = *kind;
      message.body = letter.envelope["body"];
      writer_->run(Sql::delete_dead_letter, id);
      send(message, wakeup);
    }
    if (auto done = transaction.commit(); !done) return failed(done.error());
  }
  tell(wakeup);
  return true;
}

Result<bool> SqliteStore::discard_dead_letter(std::int64_t id) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  Transaction transaction(*writer_);
  const std::int64_t gone = writer_->run(Sql::delete_dead_letter, id);
  if (auto done = transaction.commit(); !done) return failed(done.error());
  return gone == 1;
}

Result<void> SqliteStore::park(const InstanceId& id, const Failure& why, const DeadLetter& letter,
                               std::optional<std::int64_t> message) {
  std::unique_lock lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  Transaction transaction(*writer_);
  Wakeup wakeup;
  if (writer_->run(Sql::park_instance, id.value, to_json(why), now()) == 1) {
    for (const OutboxEntry& event : events_of_parking(id, why, now(), events_)) write_event(id, event, wakeup);
  }
  insert_dead_letter(letter, wakeup);
  if (message) writer_->run(Sql::delete_message, *message);
  if (auto done = transaction.commit(); !done) return failed(done.error());
  if (message) held_messages_.erase(*message);
  lock.unlock();
  tell(wakeup);
  return {};
}

Result<bool> SqliteStore::mark_deleted(const InstanceId& id, const std::string& reason) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  Transaction transaction(*writer_);
  const std::int64_t changed = writer_->run(Sql::delete_instance_softly, id.value, now(), reason);
  if (auto done = transaction.commit(); !done) return failed(done.error());
  return changed == 1;
}

Result<std::optional<HostLock>> SqliteStore::hold_lock(const std::string& name, const std::string& owner,
                                                       Duration length) {
  HostLock held{name, owner, 1, {}};
  {
    const std::lock_guard lock(writer_mutex_);
    if (auto refused = refusal()) return *refused;
    const Timestamp at = now();
    held.until = after(at, length);
    Transaction transaction(*writer_);
    {
      Query row = writer_->query(Sql::find_lock, name);
      if (row.next()) {
        const std::string other = row.text(0);
        const Timestamp until = row.time(2);
        const bool over = other.empty() || until <= at;
        if (other != owner && !over) return std::optional<HostLock>();
        // Another owner may have held it in between, so the old fence is over.
        held.fence = static_cast<std::uint64_t>(row.integer(1)) + (other != owner || over ? 1 : 0);
      }
    }
    writer_->run(Sql::put_lock, name, owner, held.fence, held.until);
    // Dispatchers extend their locks with every batch: the sync must not keep the writer from others.
    if (auto done = transaction.commit(Transaction::Sync::ahead); !done) return failed(done.error());
  }
  sync();
  return std::optional(held);
}

Result<void> SqliteStore::drop_lock(const HostLock& held) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  Transaction transaction(*writer_);
  writer_->run(Sql::drop_lock, held.name, held.owner, held.fence);
  if (auto done = transaction.commit(); !done) return failed(done.error());
  return {};
}

Result<RetentionOutcome> SqliteStore::retire_instances(const RetentionRequest& request) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  RetentionOutcome outcome;
  Json statuses = Json::array();
  for (const Status status : request.statuses) {
    if (is_final(status)) statuses.push_back(to_string(status));
  }
  Transaction transaction(*writer_);
  std::size_t trees = 0;
  std::vector<std::pair<std::int64_t, std::string>> gone;
  {
    Query roots = writer_->query(Sql::old_roots, request.ended_before, statuses);
    while (roots.next()) {
      bool whole = true;
      std::vector<std::pair<std::int64_t, std::string>> members;
      Query tree = writer_->query(Sql::tree_of, roots.text(1), request.ended_before);
      while (whole && tree.next()) {
        whole = tree.integer(2) != 0;
        members.emplace_back(tree.integer(0), tree.text(1));
      }
      if (!whole) continue;
      if (trees == request.max) {
        outcome.more = true;
        break;
      }
      ++trees;
      gone.insert(gone.end(), members.begin(), members.end());
    }
  }
  for (const auto& [number, id] : gone) remove_instance(number, id);
  const bool kept = writer_->query(Sql::has_kept).next();
  if (auto done = transaction.commit(); !done) return failed(done.error());
  maybe_kept_ = kept;
  outcome.instances = gone.size();
  return outcome;
}

void SqliteStore::remove_instance(std::int64_t number, const std::string& id) {
  if (maybe_pieces_) {
    PieceChanges gone;
    gone.all = true;
    change_pieces(number, gone);
  }
  for (const Sql statement : {Sql::remove_task_events, Sql::remove_tasks, Sql::remove_log, Sql::remove_inbox,
                              Sql::remove_messages, Sql::delete_waits, Sql::remove_state, Sql::remove_instance}) {
    writer_->run(statement, number);
  }
  for (const Sql statement :
       {Sql::remove_run_events, Sql::remove_runs, Sql::remove_instance_deliveries, Sql::remove_outbox})
    writer_->run(statement, id);
}

}  // namespace cairn
