#include "outbox/dispatcher.h"

#include <algorithm>
#include <map>

#include "base/log.h"
#include "base/sha256.h"
#include "outbox/batch_keeper.h"

namespace cairn {
namespace {

constexpr const char* lock_name = "outbox";
constexpr std::chrono::seconds retry_after{1};  // after a store that cannot be read now

}  // namespace

// One event on its way to the sinks that want it.
struct Dispatcher::Parcel {
  OutboxRow row;
  std::vector<bool> settled;      // by sink: has it, does not want it, or was given up on
  std::vector<int> attempts;      // by sink, so far
  std::optional<Duration> delay;  // until the next try
  bool failed = false;
};

Dispatcher::Dispatcher(Store& store, std::vector<std::unique_ptr<Sink>> sinks, DispatcherOptions options)
    : store_(store), sinks_(std::move(sinks)), options_(std::move(options)) {}

Dispatcher::~Dispatcher() { stop(); }

void Dispatcher::start() {
  if (sinks_.empty() || thread_.joinable()) return;
  thread_ = std::jthread([this] { run(); });
}

void Dispatcher::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Dispatcher::look() {
  const std::lock_guard lock(mutex_);
  looked_ = true;
  changed_.notify_one();
}

void Dispatcher::run() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || looked_; });
      if (stopping_) break;
      looked_ = false;
    }
    for (;;) {
      const auto round = dispatch();
      if (!round) log_error("outbox.failed", round.error());
      std::unique_lock lock(mutex_);
      if (stopping_) break;
      if (round && !round->locked_out && round->claimed > 0) continue;
      if (round && !round->locked_out) break;
      // Whoever has the lock may die with it: look once more when it would be over.
      const auto wait = round ? std::chrono::seconds(options_.lock.seconds + 1) : retry_after;
      changed_.wait_for(lock, wait, [this] { return stopping_; });
      if (stopping_) break;
    }
  }
  if (lock_) {
    if (auto dropped = store_.drop_lock(*lock_); !dropped) log_error("outbox.failed", dropped.error());
  }
}

Result<Dispatcher::Round> Dispatcher::dispatch() {
  // A read before any write: an idle node costs nothing.
  if (!lock_) {
    OutboxFilter waiting;
    waiting.unpublished = true;
    CAIRN_TRY(const auto any, store_.list_outbox(waiting, {1, ""}));
    if (any.items.empty()) return Round{};
  }
  CAIRN_TRY(const auto held, store_.hold_lock(lock_name, options_.owner, options_.lock));
  if (!held) {
    lock_.reset();
    return Round{0, 0, true};
  }
  if (!lock_ || lock_->fence != held->fence) {
    ours_since_ = store_.now();
    retried_.clear();
  }
  lock_ = *held;
  CAIRN_TRY(auto rows, store_.claim_outbox(options_.batch_max, options_.hold));
  if (rows.empty()) {
    CAIRN_TRY_VOID(store_.drop_lock(*lock_));
    lock_.reset();
    return Round{};
  }
  std::vector<Parcel> parcels;
  std::vector<std::int64_t> claimed;
  for (OutboxRow& row : rows) {
    claimed.push_back(row.sequence);
    Parcel parcel;
    parcel.attempts.assign(sinks_.size(), 0);
    for (const auto& sink : sinks_) parcel.settled.push_back(!sink->wants(row.event.type));
    parcel.row = std::move(row);
    parcels.push_back(std::move(parcel));
  }
  std::vector<Delivery> tried;
  BatchKeeper keeper(store_, *lock_, std::move(claimed), {options_.lock, options_.hold});
  CAIRN_TRY_VOID(recall(parcels));
  offer(parcels, keeper, tried);
  const bool ours = keeper.finish();
  return settle(parcels, tried, ours);
}

// What the log says about events that were tried before, by this one or another.
Result<void> Dispatcher::recall(std::vector<Parcel>& parcels) {
  for (Parcel& parcel : parcels) {
    if (parcel.row.created_at > ours_since_ && !retried_.contains(parcel.row.sequence)) continue;
    CAIRN_TRY(const auto log, store_.list_deliveries(parcel.row.sequence));
    for (const Delivery& one : log) {
      for (std::size_t i = 0; i < sinks_.size(); ++i) {
        if (one.sink.empty()) {  // sent again on request: what stands before no longer counts
          parcel.settled[i] = !sinks_[i]->wants(parcel.row.event.type);
          parcel.attempts[i] = 0;
        } else if (one.sink == sinks_[i]->name()) {
          parcel.attempts[i] = one.attempt;
          parcel.settled[i] = parcel.settled[i] || one.delivered || one.attempt >= options_.attempts_max;
        }
      }
    }
  }
  return {};
}

void Dispatcher::offer(std::vector<Parcel>& parcels, const BatchKeeper& keeper, std::vector<Delivery>& tried) {
  for (std::size_t i = 0; i < sinks_.size() && !keeper.lost(); ++i) {
    std::vector<OutboxRow> rows;
    std::vector<Parcel*> owners;
    std::set<std::string> stopped;  // subjects that have failed for another sink: their order is kept for all
    for (Parcel& parcel : parcels) {
      if (parcel.failed) stopped.insert(parcel.row.event.subject);
      if (parcel.settled[i]) continue;
      // The one that failed is still offered to the others, the later ones of its subject are not.
      if (stopped.contains(parcel.row.event.subject) && !parcel.failed) continue;
      rows.push_back(parcel.row);
      owners.push_back(&parcel);
    }
    if (rows.empty()) continue;
    const std::vector<SinkAnswer> answers = sinks_[i]->deliver(rows);
    const Timestamp at = store_.now();
    for (std::size_t k = 0; k < owners.size() && k < answers.size(); ++k) {
      const SinkAnswer& answer = answers[k];
      if (answer.kind == SinkAnswer::Kind::not_tried) continue;
      Parcel& parcel = *owners[k];
      const int attempt = ++parcel.attempts[i];
      const bool taken = answer.kind == SinkAnswer::Kind::taken;
      tried.push_back({parcel.row.sequence, sinks_[i]->name(), attempt, at, taken, answer.error});
      parcel.settled[i] = taken || attempt >= options_.attempts_max;
      if (taken) continue;
      parcel.failed = true;
      const Duration delay =
          std::max(delay_after(parcel.row.sequence, attempt), answer.retry_after.value_or(Duration()));
      parcel.delay = std::max(parcel.delay.value_or(Duration()), delay);
      log_warning("outbox.delivery_failed", {{"sink", sinks_[i]->name()},
                                             {"event", parcel.row.event.id.value},
                                             {"attempt", std::to_string(attempt)},
                                             {"reason", answer.error}});
    }
  }
}

// The log is written before the mark: a crash in between finds in it who has the event already.
Result<Dispatcher::Round> Dispatcher::settle(std::vector<Parcel>& parcels, const std::vector<Delivery>& tried,
                                             bool ours) {
  if (!tried.empty()) CAIRN_TRY_VOID(store_.record_deliveries(tried));
  std::vector<std::int64_t> published;
  std::map<std::int64_t, std::vector<std::int64_t>> postponed;  // by delay
  for (const Parcel& parcel : parcels) {
    const std::int64_t sequence = parcel.row.sequence;
    if (std::find(parcel.settled.begin(), parcel.settled.end(), false) != parcel.settled.end()) {
      retried_.insert(sequence);
      // What was only held back by an earlier one comes with it.
      postponed[parcel.delay.value_or(Duration()).ms_up()].push_back(sequence);
      continue;
    }
    published.push_back(sequence);
    retried_.erase(sequence);
    if (!parcel.failed) continue;
    DeadLetter letter;
    if (!parcel.row.instance.value.empty()) letter.instance = parcel.row.instance;
    letter.kind = "event";
    letter.envelope =
        Json::object({{"sequence", sequence}, {"id", parcel.row.event.id.value}, {"type", parcel.row.event.type}});
    letter.reason = "not delivered after " + std::to_string(options_.attempts_max) + " attempts";
    letter.node = options_.owner;
    CAIRN_TRY_VOID(store_.put_dead_letter(letter));
  }
  if (!published.empty()) CAIRN_TRY_VOID(store_.mark_published(published));
  if (!ours) postponed.clear();  // another's claims are not ours to end
  for (const auto& [delay, events] : postponed) {
    CAIRN_TRY_VOID(store_.postpone_outbox(events, Duration::of_ms(delay)));
  }
  return Round{parcels.size(), published.size(), false};
}

Duration Dispatcher::delay_after(std::int64_t sequence, int attempt) const {
  std::int64_t ms = options_.backoff.ms_up();
  const std::int64_t cap = options_.cap.ms_up();
  for (int i = 1; i < attempt && ms < cap; ++i) ms *= 2;
  ms = std::min(ms, cap);
  // Up to half more, so that what failed together does not come back together.
  const auto hash = sha256(std::to_string(sequence) + "/" + std::to_string(attempt));
  return Duration::of_ms(ms + ms / 2 * hash[0] / 255);
}

}  // namespace cairn
