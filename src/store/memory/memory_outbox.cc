#include <algorithm>
#include <charconv>

#include "store/memory/memory_store.h"
#include "store/projection.h"

namespace cairn {

void MemoryStore::write_event(const InstanceId& instance, const OutboxEntry& entry, Wakeup& wakeup) {
  OutboxRow row{++last_number_, instance, entry.event, now(), std::nullopt};
  if (entry.published) {
    row.published_at = row.created_at;
  } else {
    unassigned_.insert(row.sequence);
  }
  outbox_.emplace(row.sequence, std::move(row));
  wakeup.outbox = true;
}

bool MemoryStore::publish_if_taken(std::int64_t sequence) {
  for (const auto& [sink, events] : sink_queues_) {
    if (events.contains(sequence)) return false;
  }
  const auto row = outbox_.find(sequence);
  if (row == outbox_.end() || row->second.published_at) return false;
  row->second.published_at = now();
  // Sequences are assigned under the lock, so no lower one can appear later.
  for (auto next = outbox_.upper_bound(published_up_to_); next != outbox_.end() && next->second.published_at; ++next) {
    published_up_to_ = next->first;
  }
  return true;
}

Result<std::vector<OutboxRow>> MemoryStore::claim_outbox(std::span<const SinkFilter> sinks, const OutboxClaim& claim) {
  const std::lock_guard lock(mutex_);
  while (!unassigned_.empty()) {
    const std::int64_t sequence = *unassigned_.begin();
    unassigned_.erase(unassigned_.begin());
    const auto row = outbox_.find(sequence);
    if (row == outbox_.end()) continue;
    for (const SinkFilter& sink : sinks) {
      if (sink.wants(row->second.event.type)) sink_queues_[sink.name][sequence].attempts = 0;
    }
    publish_if_taken(sequence);
  }
  const Timestamp at = now();
  std::vector<OutboxRow> claimed;
  std::size_t retries = 0;
  std::set<std::string> busy;  // subjects with an earlier event in delivery, which block later ones
  for (auto& [sequence, queued] : sink_queues_[claim.sink]) {
    if (claimed.size() == claim.max) break;
    const OutboxRow& row = outbox_.at(sequence);
    const bool is_retry = queued.attempts > 0;
    if ((queued.held_until && *queued.held_until > at) || (is_retry && retries == outbox_retries_max(claim))) {
      busy.insert(row.event.subject);
      continue;
    }
    if (busy.contains(row.event.subject)) continue;
    retries += is_retry ? 1 : 0;
    queued.held_until = after(at, claim.hold);
    claimed.push_back(row);
    claimed.back().attempts = queued.attempts;
  }
  return claimed;
}

Result<std::vector<std::string>> MemoryStore::list_sink_queues() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> sinks;
  for (const auto& [sink, events] : sink_queues_) {
    if (!events.empty()) sinks.push_back(sink);
  }
  return sinks;
}

Result<void> MemoryStore::hold_outbox(const std::string& sink, std::span<const std::int64_t> sequences, Duration hold) {
  const std::lock_guard lock(mutex_);
  for (const std::int64_t sequence : sequences) {
    const auto queued = sink_queues_[sink].find(sequence);
    if (queued != sink_queues_[sink].end()) queued->second.held_until = after(now(), hold);
  }
  return {};
}

Result<std::size_t> MemoryStore::record_sink_results(const std::string& sink, std::span<const SinkResult> events) {
  Wakeup wakeup;
  std::size_t published = 0;
  {
    const std::lock_guard lock(mutex_);
    auto& queue = sink_queues_[sink];
    for (const SinkResult& event : events) {
      if (event.kind != SinkResult::Kind::not_tried && outbox_.contains(event.sequence)) {
        deliveries_.emplace(event.sequence, sink_delivery_of(sink, event));
      }
      const auto queued = queue.find(event.sequence);
      if (queued == queue.end()) continue;
      switch (event.kind) {
        case SinkResult::Kind::taken:
        case SinkResult::Kind::given_up:
          queue.erase(queued);
          published += publish_if_taken(event.sequence) ? 1 : 0;
          break;
        case SinkResult::Kind::failed:
          ++queued->second.attempts;
          queued->second.held_until = after(now(), event.delay);
          if (!wakeup.due || *queued->second.held_until < *wakeup.due) wakeup.due = queued->second.held_until;
          break;
        case SinkResult::Kind::not_tried: queued->second.held_until.reset(); break;
      }
    }
  }
  tell(wakeup);
  return published;
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

Result<std::vector<SinkDelivery>> MemoryStore::list_deliveries(std::int64_t sequence) {
  const std::lock_guard lock(mutex_);
  std::vector<SinkDelivery> found;
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
    unassigned_.insert(sequence);
    deliveries_.emplace(sequence, SinkDelivery{sequence, "", 0, now(), false, "sent again on request"});
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
  const auto forget_key = [&](const auto& run) { run_keys_.erase(run.second.row.idempotency_key); };
  const auto is_past = [](const RunRow& row, const std::optional<Timestamp>& before) {
    return before && is_final(row.status) && row.updated_at < *before;
  };
  const auto is_deleted_past = [](const RunRow& row, const std::optional<Timestamp>& before) {
    return before && row.deleted_at && *row.deleted_at < *before;
  };
  const auto retire_runs = [&](std::size_t& count, bool deleted) {
    retire(
        runs_, count,
        [&](const auto& run) {
          const RunRow& row = run.second.row;
          return !row.instance && row.deleted_at.has_value() == deleted &&
                 (is_past(row, request.runs_before) || is_deleted_past(row, request.deleted_runs_before));
        },
        forget_key);
  };
  retire_runs(outcome.runs, false);
  retire_runs(outcome.deleted_runs, true);
  if (request.run_events_before) {
    std::size_t runs = 0;
    for (auto& [id, run] : runs_) {
      if (run.events.empty() || !(run.events.back().at < *request.run_events_before)) continue;
      if (runs == request.max) {
        outcome.more = true;
        break;
      }
      ++runs;
      outcome.run_events += run.events.size();
      run.events.clear();
    }
  }
  if (request.dead_letters_before) {
    retire(
        dead_, outcome.dead_letters,
        [&](const auto& entry) {
          const DeadLetter& letter = entry.second;
          const auto owner = letter.instance ? instances_.find(letter.instance->value) : instances_.end();
          const bool is_needed = owner != instances_.end() && !is_final(owner->second.row.status);
          return letter.at < *request.dead_letters_before && !is_needed;
        },
        [](const auto&) {});
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
  if (request.users_before) {
    retire(
        token_users_, outcome.users, [&](const auto& user) { return user.second.seen_at < *request.users_before; },
        [](const auto&) {});
  }
  return outcome;
}

}  // namespace cairn
