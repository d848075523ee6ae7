#include "api/access/audit_trail.h"

#include <algorithm>

#include "base/log.h"
#include "store/audit_chain.h"

namespace cairn::api {
namespace {

// Callers and operations beyond this number share one row.
constexpr std::size_t refused_kinds_max = 1'000;

}  // namespace

AuditTrail::AuditTrail(AccessStore& store, AuditSettings settings)
    : store_(store),
      settings_(std::move(settings)),
      next_checkpoint_(settings_.signing_key ? std::chrono::steady_clock::now() + settings_.checkpoint_every
                                             : Instant::max()),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

AuditTrail::~AuditTrail() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void AuditTrail::add(AuditRow row, std::function<void()> written) {
  const std::scoped_lock lock(mutex_);
  entries_.push_back({std::move(row), std::move(written)});
  changed_.notify_one();
}

void AuditTrail::add_refused(AuditRow row) {
  const auto now = std::chrono::steady_clock::now();
  const std::scoped_lock lock(mutex_);
  std::string kind = row.who + "\n" + row.what;
  if (refused_.size() >= refused_kinds_max && !refused_.contains(kind)) {
    kind.clear();
    row.who = "(others)";
  }
  const auto [found, added] = refused_.try_emplace(std::move(kind));
  found->second.last = row;
  if (!added) {
    ++found->second.more;
    return;
  }
  found->second.written = now;
  entries_.push_back({std::move(row), {}});
  changed_.notify_one();
}

std::size_t AuditTrail::waiting() const {
  const std::scoped_lock lock(mutex_);
  return entries_.size();
}

AuditTrail::Instant AuditTrail::next_wake() const {
  Instant next = next_checkpoint_;
  for (const auto& [kind, refused] : refused_) next = std::min(next, refused.written + settings_.refused_every);
  return next;
}

void AuditTrail::take_refused(Instant now, bool all) {
  for (auto at = refused_.begin(); at != refused_.end();) {
    Refused& refused = at->second;
    if (!all && now < refused.written + settings_.refused_every) {
      ++at;
    } else if (refused.more == 0) {
      at = refused_.erase(at);
    } else {
      refused.last.details.set("repeated", refused.more);
      entries_.push_back({refused.last, {}});
      refused.more = 0;
      refused.written = now;
      ++at;
    }
  }
}

void AuditTrail::run(const std::stop_token& stop) {
  for (;;) {
    std::vector<Entry> batch;
    bool due = false;
    {
      std::unique_lock lock(mutex_);
      const auto filled = [this] { return !entries_.empty(); };
      if (const Instant wake = next_wake(); wake == Instant::max()) {
        changed_.wait(lock, stop, [&] { return filled() || !refused_.empty(); });
      } else {
        changed_.wait_until(lock, stop, wake, filled);
      }
      const auto now = std::chrono::steady_clock::now();
      take_refused(now, stop.stop_requested());
      due = now >= next_checkpoint_;
      if (due) next_checkpoint_ = now + settings_.checkpoint_every;
      batch.swap(entries_);
    }
    const bool over = batch.empty() && stop.stop_requested();
    if (!batch.empty()) write(std::move(batch));
    if (settings_.signing_key && (due || over)) checkpoint();
    if (over) return;
  }
}

void AuditTrail::write(std::vector<Entry> batch) {
  std::vector<AuditRow> rows;
  rows.reserve(batch.size());
  for (const Entry& entry : batch) rows.push_back(entry.row);
  auto done = store_.append_audit(rows);
  if (!done && done.error().code != ErrorCode::unavailable && rows.size() > 1) {
    // A row that the store refuses must not lose the others.
    done = {};
    for (const AuditRow& row : rows) {
      if (const auto alone = store_.append_audit({&row, 1}); !alone) {
        log_error("audit.row_not_written", alone.error(), {{"what", row.what}});
      }
    }
  }
  if (!done) log_error("audit.not_written", done.error(), {{"rows", static_cast<std::int64_t>(rows.size())}});
  for (const Entry& entry : batch) {
    if (entry.written) entry.written();
  }
}

// The store cannot return the last row, but it answers fast whether a row follows N, and sequences have no gaps.
Result<void> AuditTrail::find_end() {
  const auto row_after = [this](std::int64_t sequence) { return store_.list_audit({1, std::to_string(sequence)}); };
  std::int64_t low = 0;
  std::int64_t high = 1;
  for (;; low = high, high *= 2) {
    CAIRN_TRY(const auto page, row_after(high));
    if (page.items.empty()) break;
  }
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    CAIRN_TRY(const auto page, row_after(middle));
    if (page.items.empty()) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  hash_.clear();
  unsigned_rows_ = false;
  if (low > 0) {
    CAIRN_TRY(const auto last, row_after(low - 1));
    if (last.items.empty()) return Error{ErrorCode::conflict, "the audit trail has changed meanwhile"};
    low = last.items.front().sequence;  // a later one, if retention has removed that row meanwhile
    hash_ = last.items.front().hash;
    unsigned_rows_ = last.items.front().what != checkpoint_operation;
  }
  position_ = low;
  return {};
}

Result<bool> AuditTrail::follow_chain() {
  if (!position_) CAIRN_TRY_VOID(find_end());
  for (;;) {
    CAIRN_TRY(const auto page, store_.list_audit({1000, std::to_string(*position_)}));
    // Retention has removed the rows up to a later one: the chain begins there now.
    if (!page.items.empty() && page.items.front().sequence > *position_ + 1) {
      CAIRN_TRY(const auto start, store_.list_audit({1, ""}));
      if (!start.items.empty() && start.items.front().sequence == page.items.front().sequence) {
        position_ = start.items.front().sequence - 1;
        hash_ = start.items.front().previous_hash;
      }
    }
    for (const AuditRow& row : page.items) {
      if (row.sequence != *position_ + 1 || row.previous_hash != hash_ || row.hash != audit_hash(row)) {
        log_error("audit.chain_broken", {{"row", row.sequence}});
        return false;
      }
      position_ = row.sequence;
      hash_ = row.hash;
      unsigned_rows_ = unsigned_rows_ || row.what != checkpoint_operation;
    }
    if (page.next_cursor.empty()) return true;
  }
}

void AuditTrail::checkpoint() {
  const auto whole = follow_chain();
  if (!whole) {
    log_warning("audit.no_checkpoint", {{"message", whole.error().message}});
    return;
  }
  // A broken chain is not signed.
  if (!*whole || !unsigned_rows_) return;
  const AuditRow row = checkpoint_row(*position_, hash_, settings_.node, store_.now(), *settings_.signing_key);
  if (const auto done = store_.append_audit({&row, 1}); !done) {
    log_warning("audit.no_checkpoint", {{"message", done.error().message}});
    return;
  }
  unsigned_rows_ = false;
  // If the log is kept elsewhere, it shows later whether the end of the trail was cut off.
  log_info("audit.checkpoint", {{"sequence", *position_}, {"hash", hash_}, {"key", row.details["key"]}});
}

}  // namespace cairn::api
