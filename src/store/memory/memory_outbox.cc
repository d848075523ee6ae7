#include <algorithm>
#include <charconv>

#include "store/memory/memory_store.h"
#include "store/projection.h"

namespace cairn {

void MemoryStore::write_event(const InstanceId& instance, const OutboxEntry& entry, Wakeup& wakeup) {
  OutboxRow row{++last_number_, instance, entry.event, now(), std::nullopt};
  if (entry.published) row.published_at = row.created_at;
  outbox_.emplace(row.sequence, std::move(row));
  wakeup.outbox = true;
}

Result<void> MemoryStore::postpone_outbox(std::span<const std::int64_t> sequences, Duration delay) {
  Wakeup wakeup;
  {
    const std::lock_guard lock(mutex_);
    wakeup.due = after(now(), delay);
    for (const std::int64_t sequence : sequences) {
      const auto row = outbox_.find(sequence);
      if (row != outbox_.end() && !row->second.published_at) held_outbox_[sequence] = *wakeup.due;
    }
  }
  tell(wakeup);
  return {};
}

Result<Page<OutboxRow>> MemoryStore::list_outbox(const OutboxFilter& filter, const PageRequest& request) {
  std::int64_t from = filter.after;
  if (!request.cursor.empty()) {
    const char* const end = request.cursor.data() + request.cursor.size();
    const auto read = std::from_chars(request.cursor.data(), end, from);
    if (read.ec != std::errc() || read.ptr != end) {
      return Error{ErrorCode::invalid, "the cursor is not one that this list gave"};
    }
  }
  const std::lock_guard lock(mutex_);
  Page<OutboxRow> page;
  if (filter.unpublished) from = std::max(from, published_up_to_);
  for (auto at = outbox_.upper_bound(from); at != outbox_.end(); ++at) {
    const OutboxRow& row = at->second;
    if (!row.event.type.starts_with(filter.type_prefix)) continue;
    if (!filter.subject.empty() && row.event.subject != filter.subject) continue;
    if (filter.instance && row.instance != *filter.instance) continue;
    if (filter.unpublished && row.published_at) continue;
    if (page.items.size() == request.limit) {
      page.next_cursor = std::to_string(page.items.back().sequence);
      break;
    }
    page.items.push_back(row);
  }
  return page;
}

Result<void> MemoryStore::record_deliveries(std::span<const Delivery> deliveries) {
  const std::lock_guard lock(mutex_);
  for (Delivery delivery : deliveries) {
    if (!outbox_.contains(delivery.sequence)) continue;
    delivery.at = whole_ms(delivery.at);
    deliveries_.emplace(delivery.sequence, std::move(delivery));
  }
  return {};
}

Result<std::vector<Delivery>> MemoryStore::list_deliveries(std::int64_t sequence) {
  const std::lock_guard lock(mutex_);
  std::vector<Delivery> found;
  const auto [from, to] = deliveries_.equal_range(sequence);
  for (auto delivery = from; delivery != to; ++delivery) found.push_back(delivery->second);
  return found;
}

Result<bool> MemoryStore::resend_outbox(std::int64_t sequence) {
  Wakeup wakeup;
  {
    const std::lock_guard lock(mutex_);
    const auto row = outbox_.find(sequence);
    if (row == outbox_.end()) return false;
    row->second.published_at.reset();
    published_up_to_ = std::min(published_up_to_, sequence - 1);
    held_outbox_.erase(sequence);
    deliveries_.emplace(sequence, Delivery{sequence, "", 0, now(), false, "sent again on request"});
    wakeup.outbox = true;
  }
  tell(wakeup);
  return true;
}

Result<RowRetentionOutcome> MemoryStore::retire_rows(const RowRetention& request) {
  const std::lock_guard lock(mutex_);
  RowRetentionOutcome outcome;
  const auto retire = [&](auto& rows, std::size_t& count, const auto& is_old, const auto& before_erase) {
    for (auto row = rows.begin(); row != rows.end();) {
      if (!is_old(*row)) {
        ++row;
        continue;
      }
      if (count == request.max) {
        outcome.more = true;
        return;
      }
      before_erase(*row);
      row = rows.erase(row);
      ++count;
    }
  };
  if (request.runs_before) {
    retire(
        runs_, outcome.runs,
        [&](const auto& run) {
          const RunRow& row = run.second.row;
          return !row.instance && is_final(row.status) && row.updated_at < *request.runs_before;
        },
        [&](const auto& run) { run_keys_.erase(run.second.row.idempotency_key); });
  }
  if (request.outbox_before) {
    retire(
        outbox_, outcome.outbox,
        [&](const auto& row) { return row.second.published_at && *row.second.published_at < *request.outbox_before; },
        [&](const auto& row) { deliveries_.erase(row.first); });
  }
  if (request.keys_before) {
    retire(
        keys_, outcome.keys, [&](const auto& key) { return key.second.at < *request.keys_before; }, [](const auto&) {});
  }
  return outcome;
}

}  // namespace cairn
