#include "outbox/dispatcher.h"

#include <algorithm>

#include "base/log.h"
#include "base/sha256.h"
#include "outbox/batch_keeper.h"
#include "store/projection.h"
#include "store/report_dead_letter.h"

namespace cairn {
namespace {

constexpr std::chrono::seconds retry_after{1};  // after a failed read of the store
constexpr std::int64_t breaker_ms_min = 1000;
constexpr Duration orphans_every = Duration::of_seconds(3600);

}  // namespace

DispatchLane::DispatchLane(OutboxStore& store, std::shared_ptr<const std::vector<SinkFilter>> sinks,
                           std::unique_ptr<Sink> sink, const DispatcherOptions& options)
    : store_(store),
      sinks_(std::move(sinks)),
      sink_(std::move(sink)),
      options_(options),
      lock_name_("outbox/" + sink_->name()) {}

DispatchLane::~DispatchLane() { stop(); }

void DispatchLane::start() {
  if (thread_.joinable()) return;
  ended_ = false;
  thread_ = std::jthread([this] { run(); });
}

void DispatchLane::stop() {
  sink_->stop();
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

bool DispatchLane::wait(std::chrono::milliseconds grace) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, grace, [this] { return ended_; });
}

void DispatchLane::look() {
  const std::lock_guard lock(mutex_);
  looked_ = true;
  changed_.notify_all();
}

void DispatchLane::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    looked_ = false;
    lock.unlock();
    const auto round = dispatch();
    if (!round) log_error("outbox.failed", round.error(), {{"sink", sink_->name()}});
    const bool open = is_open(store_.now());
    const auto open_for = open ? std::chrono::milliseconds(between(store_.now(), *open_until_).ms_up()) : retry_after;
    lock.lock();
    if (round && round->claimed > 0 && !open) continue;
    const auto woken = [this] { return stopping_ || looked_; };
    if (!round || open) {
      changed_.wait_for(lock, open_for, [this] { return stopping_; });
    } else if (round->locked_out) {
      // The owner of the lock may crash: try again when its lock would have expired.
      changed_.wait_for(lock, std::chrono::seconds(options_.lock.seconds + 1), [this] { return stopping_; });
    } else {
      changed_.wait(lock, woken);
    }
  }
  lock.unlock();
  if (lock_) {
    if (auto dropped = store_.drop_lock(*lock_); !dropped) log_error("outbox.failed", dropped.error());
  }
  lock.lock();
  ended_ = true;
  changed_.notify_all();
}

// Reads before it writes, so that an idle node writes nothing.
Result<bool> DispatchLane::has_work() {
  OutboxFilter waiting;
  waiting.unpublished = true;
  CAIRN_TRY(const auto any, store_.list_outbox(waiting, {1, ""}));
  return !any.items.empty() || !any.unreadable.empty();
}

// Without this, events queued for a sink that was removed from the settings would stay unpublished for ever.
Result<void> DispatchLane::give_up_orphans() {
  const Timestamp now = store_.now();
  if (orphans_seen_ && between(*orphans_seen_, now) < orphans_every) return {};
  orphans_seen_ = now;
  CAIRN_TRY(const auto queues, store_.list_sink_queues());
  for (const std::string& name : queues) {
    const auto is = [&name](const SinkFilter& sink) { return sink.name == name; };
    if (std::any_of(sinks_->begin(), sinks_->end(), is)) continue;
    for (bool more = true; more;) {
      CAIRN_TRY(const auto events, store_.claim_outbox(*sinks_, {name, options_.batch_max, options_.hold}));
      std::vector<SinkResult> results;
      for (const OutboxRow& row : events) {
        results.push_back({row.sequence, SinkResult::Kind::given_up, row.attempts, now, "the sink was removed"});
        more = between(row.created_at, now) >= options_.orphans_after;
        if (!more) results.back().kind = SinkResult::Kind::not_tried;
      }
      more = more && !events.empty();
      CAIRN_TRY_VOID(store_.record_sink_results(name, results));
    }
  }
  return {};
}

Result<DispatchRound> DispatchLane::dispatch() {
  if (is_open(store_.now())) return DispatchRound{};
  if (!lock_) {
    CAIRN_TRY(const bool any, has_work());
    if (!any) return DispatchRound{};
  }
  CAIRN_TRY(const auto held, store_.hold_lock(lock_name_, options_.owner, options_.lock));
  if (!held) {
    lock_.reset();
    return DispatchRound{0, 0, true};
  }
  lock_ = *held;
  CAIRN_TRY_VOID(give_up_orphans());
  // After a pause, one event tests whether the sink works again.
  const std::size_t max = open_until_ ? 1 : options_.batch_max;
  CAIRN_TRY(const auto events, store_.claim_outbox(*sinks_, {sink_->name(), max, options_.hold}));
  if (events.empty()) {
    CAIRN_TRY_VOID(store_.drop_lock(*lock_));
    lock_.reset();
    return DispatchRound{};
  }
  std::vector<std::int64_t> claimed;
  for (const OutboxRow& row : events) claimed.push_back(row.sequence);
  BatchKeeper keeper(store_, *lock_, sink_->name(), std::move(claimed), {options_.lock, options_.hold});
  const std::vector<SinkAnswer> answers = sink_->deliver(events);
  const bool ours = keeper.finish();
  std::vector<SinkResult> results = judge(events, answers);
  // Another node may have claimed the events meanwhile. Its claims must stay.
  if (!ours) std::erase_if(results, [](const SinkResult& one) { return one.kind != SinkResult::Kind::taken; });
  CAIRN_TRY_VOID(bury(events, results));
  CAIRN_TRY(const std::size_t published, store_.record_sink_results(sink_->name(), results));
  return DispatchRound{events.size(), published, false};
}

std::vector<SinkResult> DispatchLane::judge(const std::vector<OutboxRow>& events,
                                            const std::vector<SinkAnswer>& answers) {
  using Kind = SinkResult::Kind;
  std::vector<SinkResult> results;
  const Timestamp at = store_.now();
  bool any_taken = false;
  bool any_failed = false;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const SinkAnswer answer = i < answers.size() ? answers[i] : SinkAnswer();
    SinkResult one{events[i].sequence, Kind::not_tried, events[i].attempts + 1, at, answer.error};
    if (answer.kind == SinkAnswer::Kind::taken) {
      one.kind = Kind::taken;
      any_taken = true;
    } else if (answer.kind == SinkAnswer::Kind::failed) {
      any_failed = true;
      one.kind = one.attempt >= options_.attempts_max ? Kind::given_up : Kind::failed;
      one.delay = std::max(delay_after(one.sequence, one.attempt), answer.retry_after.value_or(Duration()));
      log_warning("outbox.delivery_failed", {{"sink", sink_->name()},
                                             {"event_id", events[i].event.id.value},
                                             {"attempt", std::to_string(one.attempt)},
                                             {"reason", answer.error}});
    }
    results.push_back(std::move(one));
  }
  if (any_taken) {
    failures_ = 0;
    open_until_.reset();
  } else if (any_failed && ++failures_ >= options_.breaker_after) {
    const int doublings = std::min(failures_ - options_.breaker_after, 20);
    const std::int64_t pause = std::min(breaker_ms_min << doublings, options_.breaker_cap.ms_up());
    open_until_ = after(at, Duration::of_ms(pause));
    log_warning("outbox.sink_paused", {{"sink", sink_->name()}, {"ms", pause}});
  }
  return results;
}

// Stores the dead letter before it drops the event. A crash in between retries the event once more instead of losing
// it.
Result<void> DispatchLane::bury(const std::vector<OutboxRow>& events, const std::vector<SinkResult>& results) {
  for (const SinkResult& one : results) {
    if (one.kind != SinkResult::Kind::given_up) continue;
    const auto row = std::find_if(events.begin(), events.end(),
                                  [&one](const OutboxRow& event) { return event.sequence == one.sequence; });
    DeadLetter letter;
    if (!row->instance.value.empty()) letter.instance = row->instance;
    letter.kind = "event";
    letter.envelope = Json::object(
        {{"sequence", one.sequence}, {"id", row->event.id.value}, {"type", row->event.type}, {"sink", sink_->name()}});
    letter.reason = "not delivered after " + std::to_string(options_.attempts_max) + " attempts";
    letter.node = options_.owner;
    CAIRN_TRY_VOID(store_.put_dead_letter(letter));
    report_dead_letter(letter);
  }
  return {};
}

Duration DispatchLane::delay_after(std::int64_t sequence, int attempt) const {
  std::int64_t ms = options_.backoff.ms_up();
  const std::int64_t cap = options_.cap.ms_up();
  for (int i = 1; i < attempt && ms < cap; ++i) ms *= 2;
  ms = std::min(ms, cap);
  // Adds up to 50 % jitter, so that events that failed together are not retried together.
  const auto hash = sha256(std::to_string(sequence) + "/" + std::to_string(attempt));
  return Duration::of_ms(ms + ms / 2 * hash[0] / 255);
}

Dispatcher::Dispatcher(OutboxStore& store, std::vector<std::unique_ptr<Sink>> sinks, DispatcherOptions options) {
  const auto filters = std::make_shared<std::vector<SinkFilter>>();
  for (const auto& sink : sinks) filters->push_back(sink->filter());
  for (auto& sink : sinks) {
    lanes_.push_back(std::make_unique<DispatchLane>(store, filters, std::move(sink), options));
  }
}

void Dispatcher::start() {
  for (const auto& lane : lanes_) lane->start();
}

bool Dispatcher::stop(std::chrono::milliseconds grace) {
  const auto ends = std::chrono::steady_clock::now() + grace;
  for (const auto& lane : lanes_) lane->stop();
  return std::all_of(lanes_.begin(), lanes_.end(), [ends](const auto& lane) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(ends - std::chrono::steady_clock::now());
    return lane->wait(std::max(left, std::chrono::milliseconds(0)));
  });
}

void Dispatcher::abandon() {
  for (const auto& lane : lanes_) lane->abandon();
}

void Dispatcher::look() {
  for (const auto& lane : lanes_) lane->look();
}

Result<Dispatcher::Round> Dispatcher::dispatch() {
  Round all;
  for (const auto& lane : lanes_) {
    CAIRN_TRY(const Round one, lane->dispatch());
    all.claimed += one.claimed;
    all.published += one.published;
    all.locked_out = all.locked_out || one.locked_out;
  }
  return all;
}

}  // namespace cairn
